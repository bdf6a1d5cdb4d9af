# SPDX-License-Identifier: Apache-2.0
"""One set of names and defaults: C++'s descriptions, from which signatures, help and documentation are made."""

from __future__ import annotations

import inspect
import json
import re
import runpy
from pathlib import Path

import pytest

import fansite
from fansite._methods import RUN, SIMULATE

ROOT = Path(__file__).parents[2]
ESTIMATORS = {
    fansite.MarkovBoundary: ("boundary", "fansite"),
    fansite.BoundarySelector: ("boundary", "fansite"),
    fansite.CausalGraph: ("graph", "fansite-anm"),
    fansite.EntropyModel: ("entropy", "flow"),
}
# What one target has no use for, and what comes anyway.
LEFT_OUT = {fansite.BoundarySelector: {"rule", "refine"}}


def described(kind: str, name: str) -> dict[str, fansite.Parameter]:
    (method,) = (each for each in fansite.methods(kind) if each.name == name)
    return method.parameters


def python_default(parameter: fansite.Parameter) -> object:
    return None if parameter.type == "list of float" else parameter.default


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_signatures_have_names_order_and_defaults_of_the_list(estimator) -> None:
    listed = described(*ESTIMATORS[estimator])
    expected = {name: python_default(each) for name, each in listed.items() if name not in LEFT_OUT.get(estimator, ())}
    written = {name: each.default for name, each in inspect.signature(estimator).parameters.items()}
    assert [(name, value) for name, value in written.items() if name in expected] == list(expected.items())


def test_graphs_take_all_parameters_of_boundaries() -> None:
    written = inspect.signature(fansite.CausalGraph).parameters
    listed = [name for name in described("boundary", "fansite") if name != "refine"]  # the graph comes anyway
    assert [name for name in written if name in listed] == listed
    assert all(written[name].default == described("boundary", "fansite")[name].default for name in listed)


@pytest.mark.parametrize("estimator", [fansite.MarkovBoundary, fansite.CausalGraph])
def test_runs_have_the_parameters_of_the_list(estimator) -> None:
    written = inspect.signature(estimator).parameters
    for name, parameter in RUN.items():
        if name == "seed":
            assert written["random_state"].default == parameter.default
        elif parameter.type == "str" and not parameter.choices:
            assert written[name].default is None  # a path
        else:
            assert written[name].default == parameter.default


def test_simulate_has_the_parameters_of_the_list() -> None:
    written = inspect.signature(fansite.simulate).parameters
    expected = {("random_state" if name == "seed" else name): each.default for name, each in SIMULATE.items()}
    assert {name: written[name].default for name in expected} == expected
    assert set(written) - set(expected) == {"n_jobs", "verbose"}


def test_the_written_constructors_are_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "python/tools/signatures.py"))
    written = (ROOT / "python/fansite/_parameters.py").read_text(encoding="utf-8")
    assert written == tool["text"](), "run make signatures"


@pytest.mark.parametrize("command", ["mb", "plan", "dag", "entropy"])
def test_the_command_line_has_every_parameter_with_its_default(command, program) -> None:
    shown = program(command, "--help").stdout
    kinds = {"mb": ["boundary"], "plan": ["boundary"], "dag": ["graph", "boundary"], "entropy": ["entropy"]}[command]
    methods = [method for kind in kinds for method in fansite.methods(kind)]
    for method, parameter in [(method, each) for method in methods for each in method.parameters.values()]:
        if command == "dag" and parameter.name == "refine":
            continue
        option = "--" + parameter.name.replace("_", "-")
        if parameter.type == "bool":
            option = "--no-" + option[2:] if parameter.default else option
            assert re.search(rf"^  {option}\b", shown, re.M), option
            continue
        found = re.search(rf"^  {option}(?:,--[a-z-]+)*(?: [A-Z,.]+(?:=(\S+))?)", shown, re.M)
        assert found, option
        sharing = [other.parameters[parameter.name] for other in methods if parameter.name in other.parameters]
        if any(other.default != parameter.default for other in sharing):
            default = f"{parameter.default:g}" if parameter.type == "float" else parameter.default
            assert f"{method.name} {default}" in " ".join(shown.split()), option  # in the text, method by method
        elif parameter.type in ("int", "float"):
            assert float(found[1]) == parameter.default, option
        elif parameter.type == "str" and not parameter.choices:
            assert (found[1] or "") == parameter.default, option


def test_methods_are_those_of_the_command_line(program) -> None:
    listed = json.loads(program("methods", "--json").stdout)
    for kind, key in [("boundary", "boundary_methods"), ("graph", "graph_methods"), ("entropy", "entropy_estimators")]:
        assert [each.name for each in fansite.methods(kind)] == [each["name"] for each in listed[key]]
    assert len(fansite.methods()) == sum(len(listed[key]) for key in listed if key not in ("run", "simulate"))
    with pytest.raises(ValueError, match="give 'boundary', 'graph' or 'entropy'"):
        fansite.methods("magic")


def test_parameters_of_another_method_are_refused_by_name(linear) -> None:
    with pytest.raises(ValueError, match=r"\[noise\] sdcd has no such parameter; fansite-anm has it"):
        fansite.CausalGraph(method="sdcd", noise="gaussian").fit(linear.values)
    with pytest.raises(ValueError, match=r"\[options\] fansite has no such parameter as 'magic'; there are estimator, effort"):
        fansite.MarkovBoundary(options={"magic": 1}).fit(linear.values)
    with pytest.raises(ValueError, match=r"\[effort\] sdcd needs no boundaries, so none are found"):
        fansite.CausalGraph(method="sdcd", effort="quick").fit(linear.values)
    with pytest.raises(ValueError, match=r"\[method\] 'magic' is unknown; use fansite-anm, fansite-dcd, sdcd, pc, ges, marvel, dagma, notears, cosmo or dat"):
        fansite.CausalGraph(method="magic").fit(linear.values)


@pytest.mark.parametrize("callable_", [*ESTIMATORS, fansite.simulate])
def test_parameters_are_keyword_only(callable_) -> None:
    kinds = {parameter.kind for parameter in inspect.signature(callable_).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("estimator", [fansite.MarkovBoundary, fansite.CausalGraph, fansite.EntropyModel])
def test_estimators_keep_their_parameters(estimator) -> None:
    changed = estimator(random_state=5, verbose=True)
    assert changed.get_params()["random_state"] == 5
    assert repr(changed) == f"{estimator.__name__}(random_state=5, verbose=True)"
    assert changed.set_params(random_state=6) is changed
    assert changed.random_state == 6
    with pytest.raises(ValueError, match="there is no parameter 'seed'; there are"):
        changed.set_params(seed=1)

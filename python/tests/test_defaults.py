# SPDX-License-Identifier: Apache-2.0
"""One set of names and defaults: C++'s, which the command line shows in its help."""

from __future__ import annotations

import inspect
import re

import pytest

import fansite

# Where Python has a habit of its own: the command line's name and how Python says the same.
RENAMED = {"seed": "random_state", "threads": "n_jobs", "quiet": "verbose", "target": "targets"}
PER_COMMAND = {
    "mb": (fansite.MarkovBoundary, {"out", "no-header", "rho", "resume"}),
    "dag": (fansite.CausalGraph, {"out", "no-header", "boundaries", "graphml", "dot", "csv", "resume"}),
    "entropy": (fansite.EntropyModel, {"out", "no-header", "target", "given"}),
    "simulate": (fansite.simulate, {"out", "format"}),
}


def options_in_help(text: str) -> dict[str, str | None]:
    """Each option with the default that the help shows, or None."""
    option = r"^  (?:-h,)?--([a-z-]+)(?:,--[a-z-]+)*(?:\{\w+\})?"
    value = r"(?: [A-Z]+(?::\{[^}]*\})?(?:=(\S+))?)?"
    found = re.findall(option + value, text, re.M)
    return {name: default or None for name, default in found if name != "help"}


@pytest.mark.parametrize("command", PER_COMMAND)
def test_names_and_defaults_are_those_of_the_command_line(command, program) -> None:
    callable_, not_in_python = PER_COMMAND[command]
    options = options_in_help(program(command, "--help").stdout)
    assert "seed" in options and options["seed"] == "0"  # the help was understood
    parameters = inspect.signature(callable_).parameters
    expected = {RENAMED.get(name, name).replace("-", "_") for name in options if name not in not_in_python}
    assert set(parameters) == expected
    for name, default in options.items():
        if default is None or name in not_in_python or name == "threads":
            continue
        ours = parameters[RENAMED.get(name, name).replace("-", "_")].default
        assert type(ours)(default) == ours, name


@pytest.mark.parametrize("callable_", [*(each for each, _ in PER_COMMAND.values()), fansite.BoundarySelector])
def test_parameters_are_keyword_only(callable_) -> None:
    kinds = {parameter.kind for parameter in inspect.signature(callable_).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


def test_selector_has_the_defaults_of_markov_boundary() -> None:
    ours = inspect.signature(fansite.BoundarySelector).parameters
    theirs = inspect.signature(fansite.MarkovBoundary).parameters
    assert {name: each.default for name, each in ours.items()} == {name: theirs[name].default for name in ours}


@pytest.mark.parametrize("estimator", [fansite.MarkovBoundary, fansite.CausalGraph, fansite.EntropyModel])
def test_estimators_keep_their_parameters(estimator) -> None:
    changed = estimator(random_state=5, verbose=True)
    assert changed.get_params()["random_state"] == 5
    assert repr(changed) == f"{estimator.__name__}(random_state=5, verbose=True)"
    assert changed.set_params(random_state=6) is changed
    assert changed.random_state == 6
    with pytest.raises(ValueError, match="there is no parameter 'seed'; they are"):
        changed.set_params(seed=1)

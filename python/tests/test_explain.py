# SPDX-License-Identifier: Apache-2.0
"""What was found of a variable, in sentences whose numbers are the result's."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fansite


def edited(result: Any, edit: Any) -> Any:
    """The result with something in its JSON changed."""
    read = json.loads(result.to_json())
    edit(read)
    return type(result).from_json(read)


def test_members_with_their_numbers(boundaries) -> None:
    for target, boundary in boundaries.result_.boundaries.items():
        told = boundaries.explain(target)
        lines = told.split("\n")
        assert lines[0].startswith(f"The Markov boundary of {target} is ")
        for member, line in zip(boundary.members, lines[1:]):
            assert line.startswith(f"{member.name} adds {member.gain:.2f}"[:-2])
            assert f"q = {member.q_value:.1g}" in line or "q < 1e-300" in line
            assert f"{member.stability:.0%} of the resamples" in line
        for miss in boundary.near_misses:
            assert f"{miss.name} is not in: {miss.reason}" in told
        assert "nan" not in told and "inf " not in told
        assert repr(told) == str(told) == told == boundaries.result_.explain(target)


def test_whatever_a_member_can_have(boundaries) -> None:
    target = next(name for name, members in boundaries.boundaries_.items() if len(members) >= 2)
    first, second = boundaries.boundaries_[target][:2]

    def edit(read: dict[str, Any]) -> None:
        (entry,) = (each for each in read["boundaries"] if each["target"] == target)
        one, two = entry["members"][:2]
        one |= {"role": "spouse", "through": [second], "by_symmetry": True, "by_graph": True, "votes": 0.75}
        one |= {"fragile": True, "robustness": {"hidden_cause": 0.12, "measurement_noise": 0.34}}
        one |= {"interchangeable": [{"name": "x9", "cost": 0.25, "se": 0.05}]}
        two |= {"role": "parent", "by_knowledge": True, "against_graph": True, "gain": None, "q_value": None}
        two |= {"fragile": True, "robustness": {"hidden_cause": None, "measurement_noise": None}}
        read["warnings"] = [
            f"[mb] '{target}' is odd",
            "[mb] 'x99' is odd",
            "[mb] all rows are odd; --block none",
            "[mb] 'x5' and 'x6' are odd",
        ]
        read["variables"] = [*read["variables"], "x99"]
        read |= {"complete": False, "unfinished": "time ran out"}

    told = edited(boundaries.result_, edit).explain(target)
    one, two = told.split("\n")[1:3]
    assert f"{first}, another cause of {second}, adds" in one
    assert "has the votes of 75% of the networks" in one
    assert "x9 could take its place, at a cost of 0.25 ± 0.05 nats." in one
    assert (
        f"Only the search from {first} found the pair, not that from {target}." in one
        and "the causal graph makes it a member" in one
    )
    assert "a hidden cause of both that makes up 12% of what the other members leave over" in one
    assert "or a share of 34% of measurement noise in the other members would explain it away" in one
    assert f"{second}, a cause, adds all that there is to know" in two and "q =" not in two
    assert "known beforehand, whatever the data say" in two and "The causal graph would drop it" in two
    assert "It is fragile: a hidden common cause may be behind it." in two
    assert f"Beware: '{target}' is odd" in told and "'x99'" not in told
    assert 'Beware: all rows are odd; block="none"' in told
    assert told.endswith("The run was not finished: time ran out.")


@pytest.mark.filterwarnings("ignore::fansite.DataWarning")
def test_what_has_no_members() -> None:
    random = np.random.default_rng(0)
    table = pd.DataFrame({"a": random.normal(size=200), "b": random.normal(size=200), "same": 1.0})
    table["copy"] = table["a"]
    table["sum"] = table["a"] + table["b"]
    found = fansite.MarkovBoundary().fit(table)
    told = found.explain("same")
    assert told.startswith("same does not vary, so that its Markov boundary is empty.")
    assert "Beware: column 'same' is constant" in told
    assert found.explain("copy").startswith("copy repeats a in every row, so that it has its boundary: ")
    assert math.isinf(found.result_["sum"].conditional_entropy)
    assert "which determine it" in found.explain("sum")
    alone = fansite.MarkovBoundary().fit(table[["a", "b"]])
    assert alone.explain("a").startswith("The Markov boundary of a is empty: by Gaussian entropies over 200 rows, the one")


@pytest.mark.filterwarnings("ignore::fansite.DataWarning")
def test_the_others_are_counted_without_the_context() -> None:
    random = np.random.default_rng(0)
    table = pd.DataFrame({"a": random.normal(size=200), "b": random.normal(size=200), "site": random.normal(size=200)})
    table["c"] = table["a"] + random.normal(size=200)
    table[7] = random.normal(size=200)

    def head(target: str, columns: str, context: list[Any]) -> str:
        only = [*columns, *context]
        found = fansite.MarkovBoundary(estimator="gaussian", only=only, context=context).fit(table)
        return found.explain(target).split("\n")[0]

    given = " The context, site and 7, is given throughout."
    for context, end in (([], ""), (["site", 7], given)):
        assert head("b", "abc", context).endswith(f"none of the 2 other variables is seen to tell anything about it.{end}")
        assert head("b", "ab", context).endswith(f"the one other variable is not seen to tell anything about it.{end}")
        assert head("a", "ac", context).endswith(f"No variable is left out (by Gaussian entropies over 200 rows).{end}")
        told = f"Given it, the one other is not seen to tell more (by Gaussian entropies over 200 rows).{end}"
        assert head("a", "abc", context).endswith(told)
    assert head("b", "b", ["site", 7]) == f"The Markov boundary of b is empty: there is no other variable.{given}"
    graph = fansite.CausalGraph(estimator="gaussian", context="site").fit(table)
    assert graph.explain("site") == "Of site, over 200 rows: it is context, so it has no edges."
    assert "it is linked to no other variable" in graph.explain("b")


def test_flows_say_whether_their_distributions_hold(curved) -> None:
    quick = {"estimator": "flow", "effort": "quick", "steps": 20, "folds": 2}
    found = fansite.MarkovBoundary(**quick).fit(curved.values).result_
    assert "neural flows" in found.explain("x1")

    def edit(read: dict[str, Any]) -> None:
        read["calibration"]["variables"][0]["p_value"] = 1e-5
        read["calibration"]["variables"][1]["p_value"] = 0.5

    odd = edited(found, edit)
    assert "The networks' distribution of x1 does not hold on rows that they have not seen (p = 1e-05" in odd.explain(
        "x1"
    )
    assert "does not hold" not in odd.explain("x2")


def test_edges_with_their_numbers(graph) -> None:
    for name in graph.feature_names_in_:
        told = graph.explain(name)
        for edge in graph.edges_:
            if name not in (edge.source, edge.target):
                continue
            arrow = "->" if edge.directed else "--"
            (line,) = (each for each in told.split("\n") if each.startswith(f"{edge.source} {arrow} {edge.target}: "))
            assert f"without it {edge.existence.value:.2f}"[:-1] in line
            assert f"(in {edge.direction.stability:.0%} of the resamples)" in line
            assert ("Its direction is undecided" in line) == (not edge.directed)
    undecided = next(edge for edge in graph.edges_ if not edge.directed)
    told = graph.explain(undecided.source)
    assert "in a direction that the data do not decide" in told.split("\n")[0]
    with pytest.raises(KeyError, match="no variable is called 'x'"):
        graph.explain("x")


def test_hidden_causes_and_what_is_known(graph) -> None:
    edge = next(edge for edge in graph.edges_ if edge.directed)
    other = next(name for name in graph.result_.variables if name not in (edge.source, edge.target))

    def edit(read: dict[str, Any]) -> None:
        read["hidden_causes"] = [{"a": other, "b": edge.source, "correlation": 0.21, "p_value": 1e-7}]
        for each in read["edges"]:
            if (each["from"], each["to"]) == (edge.source, edge.target):
                each |= {
                    "fragile": True,
                    "direction_by": "knowledge",
                    "direction": {"value": None, "se": 0.0, "stability": 1.0},
                }

    told = edited(graph.result_, edit).explain(edge.source)
    assert f"A cause outside the table may link {edge.source} and {other}" in told
    assert "(correlation 0.21, p = 1e-07)" in told
    assert "its direction is what was known beforehand; the other one is forbidden." in told
    assert "An end of it is in a pair that a hidden cause may link." in told


def test_other_methods_have_weights_alone(small) -> None:
    found = fansite.CausalGraph(method="ges").fit(small.values)
    assert found.edges_ and "has weight" in found.explain(found.edges_[0].source)
    found.explain("x2")


def test_selectors_explain_y(linear) -> None:
    table = linear.to_pandas()
    selector = fansite.BoundarySelector().fit(table.drop(columns="x3"), table["x3"])
    assert selector.explain().startswith("The Markov boundary of y is ")

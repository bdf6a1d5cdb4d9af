# SPDX-License-Identifier: Apache-2.0
"""What was found of one variable, in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isinf, isnan
from typing import TYPE_CHECKING, Any

from ._labels import name_of, unknown

if TYPE_CHECKING:
    from ._boundaries_result import BoundariesResult, Boundary, Member
    from ._graph_result import Edge, Evidence, GraphResult
    from ._result import TableResult

_ESTIMATORS = {"gaussian": "Gaussian entropies", "flow": "neural flows"}
_BY = {
    "score": "the data decide its direction",
    "collider": "its direction follows from a collider, two causes that are related only given their effect",
    "consequence": "its direction follows from those of other edges",
    "knowledge": "its direction is what was known beforehand",
}


class Explanation(str):
    """Sentences; in a console and in a notebook they show as they are."""

    __slots__ = ()

    def __new__(cls, text: str) -> Explanation:
        return super().__new__(cls, text)

    def __repr__(self) -> str:
        return str(self)


# ---- Of a boundary --------------------------------------------------------------------------------------------------


def of_boundary(result: BoundariesResult, target: str) -> Explanation:
    """Members in order of admission, near misses with why they are out, and what speaks against either."""
    boundary = result[target]
    lines = [_head(result, boundary)]
    lines += [_member(member, place, boundary) for place, member in enumerate(boundary.members)]
    for miss in boundary.near_misses:
        evidence = _amount(miss.gain, miss.se) + _chance("p", miss.p_value, "; ")
        lines.append(f"{name_of(miss.name)} is not in: {miss.reason} ({evidence}).")
    lines += _calibration(result, boundary.target)
    return _explanation(result, lines, [boundary.target, *boundary.names])


def _head(result: BoundariesResult, boundary: Boundary) -> str:
    target, members = name_of(boundary.target), boundary.members
    if boundary.copy_of is not None:
        return (
            f"{target} repeats {name_of(boundary.copy_of)} in every row, so that it has its boundary: "
            f"{_listed(boundary.names) or 'none'}."
        )
    if isinf(boundary.entropy):
        return f"{target} does not vary, so that its Markov boundary is empty."
    by = f"by {_ESTIMATORS.get(result.estimator, result.estimator)} " if result.estimator else ""
    context = _context(result)
    rest = len(result.variables) - 1 - len(context)
    given_throughout = f" The context, {_listed(context)}, is given throughout." if context else ""
    if not members:
        others = "the one other variable is not" if rest == 1 else f"none of the {rest} other variables is"
        why = f"{by}over {result.rows} rows, {others} seen to tell anything about it"
        why = why if rest else "there is no other variable"
        return f"The Markov boundary of {target} is empty: {why}.{given_throughout}"
    s = "s" if len(members) == 1 else ""
    told = (
        f"which determine{s} it"
        if isinf(boundary.conditional_entropy)
        else f"which take{s} its uncertainty from {boundary.entropy:.2f} to {boundary.conditional_entropy:.2f} nats"
    )
    given = "it" if len(members) == 1 else "them"
    rest -= len(members)
    others = "the one other is not" if rest == 1 else f"none of the {rest} others is"
    return (
        f"The Markov boundary of {target} is {_listed(boundary.names)}, {told}. "
        f"{f'Given {given}, {others} seen to tell more' if rest else 'No variable is left out'} "
        f"({by}over {result.rows} rows).{given_throughout}"
    )


def _member(member: Member, place: int, boundary: Boundary) -> str:
    name = name_of(member.name)
    role = {
        "parent": ", a cause",
        "child": ", an effect",
        "spouse": f", another cause of {_listed(member.through)}" if member.through else ", another cause of an effect",
        "undecided": ", a cause or an effect,",
    }.get(member.role or "", "")
    role += "," if role and not role.endswith(",") else ""
    beyond = " beyond those before it" if place else ""
    words = [f"{name}{role} adds {_amount(member.gain, member.se)}{beyond}{_chance('q', member.q_value, ' (')}"]
    words[0] += ")" if not isnan(member.q_value) else ""
    if not isnan(member.stability):
        words.append(f"is chosen in {member.stability:.0%} of the resamples of the rows")
    if not isnan(member.votes):
        words.append(f"has the votes of {member.votes:.0%} of the networks")
    sentences = [_listed(words) + "."]
    if len(boundary.members) > 1 and not isnan(member.unique):
        back = "all uncertainty comes" if isinf(member.unique) else f"{member.unique:.2f} nats come"
        sentences.append(f"Without it {back} back.")
    for stand_in in member.interchangeable:
        sentences.append(
            f"{name_of(stand_in.name)} could take its place, at a cost of {_amount(stand_in.cost, stand_in.se)}."
        )
    if member.by_symmetry:
        sentences.append(f"Only the search from {name} found the pair, not that from {name_of(boundary.target)}.")
    if member.by_graph:
        sentences.append("The searches did not find it; the causal graph makes it a member.")
    if member.against_graph:
        sentences.append("The causal graph would drop it, but does not explain what the data show of it.")
    if member.by_knowledge:
        data = "" if isnan(member.p_value) else f", whatever the data say{_chance('p', member.p_value, ' (')})"
        sentences.append(f"It is a member because that was known beforehand{data}.")
    if member.fragile:
        sentences.append(_fragile(member))
    return " ".join(sentences)


def _fragile(member: Member) -> str:
    causes = []
    if not isnan(member.robustness_to_hidden_cause):
        share = f"{member.robustness_to_hidden_cause:.0%}"
        causes.append(f"a hidden cause of both that makes up {share} of what the other members leave over")
    if not isnan(member.robustness_to_noise):
        causes.append(f"a share of {member.robustness_to_noise:.0%} of measurement noise in the other members")
    if not causes:
        return "It is fragile: a hidden common cause may be behind it."
    return f"It is fragile: {' or '.join(causes)} would explain it away."


def _calibration(result: BoundariesResult, target: Any) -> list[str]:
    """Flows: whether the distribution of the target given its boundary holds."""
    for each in (result.calibration or {}).get("variables", ()):
        if each["name"] == target and each["p_value"] is not None and each["p_value"] < 0.01:
            return [
                f"The networks' distribution of {name_of(target)} does not hold on rows that they have not seen"
                f"{_chance('p', each['p_value'], ' (')}), so take these numbers with care."
            ]
    return []


# ---- Of a graph -----------------------------------------------------------------------------------------------------


def of_graph(result: GraphResult, variable: str) -> Explanation:
    """Causes, effects, what is undecided, the evidence for each edge and for its direction, and hidden causes."""
    by_name = {name_of(each): each for each in result.variables}
    if name_of(variable) not in by_name:
        raise KeyError(unknown(name_of(variable), by_name, "[graph] no variable is called"))
    variable = by_name[name_of(variable)]
    name = name_of(variable)
    edges = [edge for edge in result.edges if variable in (edge.source, edge.target)]
    causes = [edge.source for edge in edges if edge.directed and edge.target == variable]
    effects = [edge.target for edge in edges if edge.directed and edge.source == variable]
    undecided = [edge.target if edge.source == variable else edge.source for edge in edges if not edge.directed]
    facts = [
        f"its cause{'s are' if len(causes) > 1 else ' is'} {_listed(causes)}" if causes else "",
        f"its effect{'s are' if len(effects) > 1 else ' is'} {_listed(effects)}" if effects else "",
        f"it is linked to {_listed(undecided)}, in a direction that the data do not decide" if undecided else "",
    ]
    context = _context(result)
    unlinked = "it is context, so it has no edges" if variable in context else "it is linked to no other variable"
    found = "; ".join(fact for fact in facts if fact) or unlinked
    lines = [f"Of {name}, over {result.rows} rows: {found}."]
    lines += [_edge(edge, variable) for edge in sorted(edges, key=_strength)]
    spouses = [role for role in result.roles.get(variable, ()) if role.role == "spouse"]
    lines += [
        f"{name_of(role.name)} is another cause of its effect{'s' * (len(role.through) > 1)} {_listed(role.through)}."
        for role in spouses
    ]
    for pair in result.hidden_causes:
        if variable in (pair.a, pair.b):
            other = name_of(pair.b if pair.a == variable else pair.a)
            lines.append(
                f"A cause outside the table may link {name} and {other}: what the equations leave over of the two is "
                f"related (correlation {pair.correlation:.2f}{_chance('p', pair.p_value, ', ')})."
            )
    if edges:
        lines.append("An arrow is a cause only if no common cause is missing from the table.")
    return _explanation(result, lines, [variable, *causes, *effects, *undecided])


def _strength(edge: Edge) -> float:
    return -(edge.existence.value if edge.existence else edge.weight)


def _edge(edge: Edge, variable: Any) -> str:
    between = f"{name_of(edge.source)} {'->' if edge.directed else '--'} {name_of(edge.target)}"
    if edge.existence is None:
        return f"{between} has weight {edge.weight:.2g}."
    lost = _amount(edge.existence.value, edge.existence.se)
    words = f"{between}: without it {lost} a row are lost{_share(edge.existence)}"
    turned = edge.direction
    if turned is None or isnan(turned.value):
        evidence = ""
    elif isinf(turned.value):
        evidence = "; the other one is forbidden"
    else:
        evidence = f"; turned round, {_amount(turned.value, turned.se)} would be lost{_share(turned)}"
    if edge.directed:
        words += f", and {_BY[edge.direction_by]}{evidence}." if edge.direction_by in _BY else f"{evidence}."
    else:
        best = f"{name_of(edge.source)} -> {name_of(edge.target)}"
        words += f". Its direction is undecided: the best graph has {best}{evidence}."
    return words + (" An end of it is in a pair that a hidden cause may link." if edge.fragile else "")


def _share(evidence: Evidence) -> str:
    return f" (in {evidence.stability:.0%} of the resamples)" if not isnan(evidence.stability) else ""


def _context(result: TableResult) -> list[Any]:
    """Columns that are conditioned on everywhere; settings have their names."""
    names = result.settings.get("table", {}).get("context", [])
    return [variable for variable in result.variables if name_of(variable) in names]


# ---- Words ----------------------------------------------------------------------------------------------------------


def _explanation(result: TableResult, lines: list[str], about: Sequence[Any]) -> Explanation:
    told = [_touching(sentence, result.variables, about) for sentence in result.warnings]
    lines += [f"Beware: {sentence}" for sentence in told if sentence]
    if not result.complete:
        lines.append(f"The run was not finished: {result.unfinished}.")
    return Explanation("\n".join(lines))


def _touching(sentence: str, variables: Iterable[Any], about: Sequence[Any]) -> str:
    """A warning without its bracket, if it is about one of these variables or about none in particular; else ''."""
    named = {variable for variable in variables if f"'{name_of(variable)}'" in sentence}
    return "" if named and not named & set(about) else re.sub(r"^\[\w+\] ", "", sentence)


def _listed(names: Iterable[Any]) -> str:
    words = [name_of(name) for name in names]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _amount(value: float, se: float) -> str:
    if isinf(value) or isnan(value):
        return "all that there is to know" if value > 0 else "an amount that is not known"
    digits = 2 if abs(value) >= 0.1 else 3
    return f"{value:.{digits}f} nats" if isnan(se) else f"{value:.{digits}f} ± {se:.{digits}f} nats"


def _chance(letter: str, value: float, before: str) -> str:
    return "" if isnan(value) else f"{before}{letter} {'< 1e-300' if value < 1e-300 else f'= {value:.1g}'}"

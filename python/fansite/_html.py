# SPDX-License-Identifier: Apache-2.0
"""Results as notebooks show them: tables, escaped, cut where they get long.

No colour is named but the text's own, so they can be read on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from math import isfinite, isinf, isnan
from typing import TYPE_CHECKING, Any

from ._labels import name_of

if TYPE_CHECKING:
    from ._boundaries_result import BoundariesResult, Boundary
    from ._compare import Comparison
    from ._entropy import Information
    from ._graph_result import GraphResult
    from ._inspect import Inspection
    from ._read import Plan

_SHOWN = 20


def boundaries(result: BoundariesResult) -> str:
    rows = [
        [name_of(boundary.target), _nats(boundary.entropy), _nats(boundary.conditional_entropy), _list(boundary)]
        for boundary in result.boundaries.values()
    ]
    by = f", {result.estimator} estimator" if result.estimator else ""
    caption = f"{_count(len(rows), 'boundary', 'boundaries')} of {result.rows} rows{by}"
    header = ["target", "entropy", "given the boundary", "members and their gains"]
    return _table(caption, header, rows, words={0, 3}) + _told(result)


def boundary(result: Boundary) -> str:
    members = [
        [
            name_of(member.name), f"{_nats(member.gain)} ± {_nats(member.se)}", _nats(member.unique), _p(member.p_value),
            _p(member.q_value), _share(member.stability), ", ".join(_marks(member)),
        ]
        for member in result.members
    ]  # fmt: skip
    misses = [
        [
            name_of(miss.name),
            f"{_nats(miss.gain)} ± {_nats(miss.se)}",
            "",
            _p(miss.p_value),
            _p(miss.q_value),
            "",
            f"not in: {miss.reason}",
        ]
        for miss in result.near_misses
    ]
    gains = [*(member.gain for member in result.members), *(miss.gain for miss in result.near_misses)]
    header = ["member", "gain", "unique", "p", "q", "stability", ""]
    faint = range(len(members), len(members) + len(misses))
    return _table(
        f"Markov boundary of {name_of(result.target)}",
        header,
        members + misses,
        words={0, 6},
        bars={1: gains},
        faint=faint,
    )


def graph(result: GraphResult) -> str:
    edges = sorted(result.edges, key=lambda edge: -(edge.existence.value if edge.existence else edge.weight))
    strengths = [edge.existence.value if edge.existence else edge.weight for edge in edges]
    rows = []
    for edge, strength in zip(edges, strengths):
        arrow = "→" if edge.directed else "–"
        direction = _nats(edge.direction.value) if edge.direction else ""
        marks = "a hidden cause may be behind it" if edge.fragile else ""
        name = f"{name_of(edge.source)} {arrow} {name_of(edge.target)}"
        rows.append([name, _nats(strength), direction, edge.direction_by or "", marks])
    undecided = [place for place, edge in enumerate(edges) if not edge.directed]
    caption = f"{_count(len(rows), 'edge', 'edges')} of {result.rows} rows, {len(undecided)} of undecided direction"
    header = ["edge", "strength", "of its direction", "direction by", ""]
    shown = _table(caption, header, rows, words={0, 3, 4}, bars={1: strengths})
    if result.hidden_causes:
        pairs = [
            [f"{name_of(p.a)} ↔ {name_of(p.b)}", f"{p.correlation:.2f}", _p(p.p_value)] for p in result.hidden_causes
        ]
        caption = f"{_count(len(pairs), 'pair', 'pairs')} that a cause outside the table may link"
        shown += _table(caption, ["pair", "correlation", "p"], pairs, words={0})
    return shown + _told(result)


def information(result: Information) -> str:
    rows = [[name_of(each.name), f"{_nats(each.information)} ± {_nats(each.information.se)}"] for each in result.added]
    caption = (
        f"What is known of {name_of(result.target)}: entropy {result.entropy}, "
        f"given all {result.conditional_entropy} nats, information {result.information}"
    )
    bars = {1: [float(each.information) for each in result.added]}
    return _table(caption, ["given", "information beyond the others"], rows, words={0}, bars=bars)


def inspection(result: Inspection) -> str:
    rows = []
    for column in result.columns:
        values = ", ".join(column.labels[:5]) + ("…" if len(column.labels) > 5 else "")
        if not column.labels:
            values = " … ".join(f"{value:.5g}" for value in column.range)
        kind = column.kind + (" (declared)" if column.declared else "")
        missing = f"{column.missing:.1%}" if column.missing else ""
        rows.append([name_of(column.name), kind, str(column.distinct), missing, values, column.treatment])
    incomplete = f", {result.incomplete_rows} with missing cells" if result.incomplete_rows else ""
    caption = f"{result.rows} rows × {_count(len(rows), 'column', 'columns')}{incomplete}"
    faint = [place for place, column in enumerate(result.columns) if not column.takes_part]
    header = ["column", "kind", "distinct", "missing", "values", ""]
    shown = _table(caption, header, rows, words={0, 1, 4, 5}, faint=faint, most=100)
    shown += _sentences("Findings", [finding.message for finding in result.findings], is_open=True)
    return shown + _sentences("What the values cannot tell", result.assumptions)


def plan(result: Plan) -> str:
    rows = [[phase.name, f"{phase.seconds:.2f}", phase.what] for phase in result.phases]
    low, high = result.total_seconds / result.within, result.total_seconds * result.within
    caption = (
        f"{result.rows} rows × {result.variables} variables: {low:.3g} to {high:.3g} s, {result.peak_memory_mb:.0f} MB"
    )
    bars = {1: [phase.seconds for phase in result.phases]}
    return _table(caption, ["phase", "seconds", ""], rows, words={0, 2}, bars=bars) + _sentences(
        "Warnings", result.warnings
    )


def comparison(result: Comparison) -> str:
    names = next((list(each["scores"]) for each in result.summary if each.get("scores")), [])
    rows = []
    for each in result.summary:
        scores = [_score(name, (each.get("scores") or {}).get(name)) for name in names]
        cells = ", ".join(f"{each[how]} {how}" for how in ("done", "timeout", "refused", "failed") if each[how])
        seconds = result.timing["methods"][each["method"]]["seconds"]
        claimed = (
            ["–", "–", "–"] if not each["done"] else [f"{each['pairs']:.0f}", str(each["alone"]), f"{seconds:.2f}"]
        )
        rows.append([each["method"], *scores, *claimed, cells, each.get("reason", "")])
    caption = f"{_count(len(rows), 'method', 'methods')} compared, {_count(len(result.tables), 'table', 'tables')}"
    header = ["method", *names, "pairs", "alone", "seconds", "cells", ""]
    return _table(caption, header, rows, words={0, len(header) - 2, len(header) - 1})


def _score(name: str, score: dict[str, float | None] | None) -> str:
    if score is None or score["mean"] is None:
        return "–"
    scale = 1 if name == "SHD" else 100
    return f"{scale * score['mean']:.1f} ± {scale * (score['sd'] or 0):.1f}"


def _list(boundary: Boundary) -> str:
    shown = ", ".join(f"{name_of(member.name)} {_nats(member.gain)}" for member in boundary.members[:_SHOWN])
    more = len(boundary.members) - _SHOWN
    return (shown or "(empty)") + (f" and {more} more" if more > 0 else "")


def _marks(member: Any) -> list[str]:
    """What else is to be said of a member, in a word each."""
    told = {"by_symmetry": "by symmetry", "by_graph": "by the graph", "against_graph": "against the graph"}
    told |= {"by_knowledge": "by knowledge", "fragile": "fragile"}
    marks = [member.role] if member.role else []
    marks += [words for field, words in told.items() if getattr(member, field)]
    if member.interchangeable:
        marks.append(f"or {', '.join(name_of(each.name) for each in member.interchangeable)}")
    return marks


# ---- Pieces ---------------------------------------------------------------------------------------------------------


def _count(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _nats(value: float) -> str:
    if isnan(value):
        return ""
    return ("∞" if value > 0 else "−∞") if isinf(value) else f"{value:.3f}"


def _p(value: float) -> str:
    return "" if isnan(value) else f"{value:.2g}"


def _share(value: float) -> str:
    return "" if isnan(value) else f"{value:.0%}"


def _told(result: Any) -> str:
    """Warnings below a table."""
    return _sentences(
        "Warnings", [*result.warnings, *([] if result.complete else [f"not finished: {result.unfinished}"])]
    )


def _sentences(title: str, sentences: Sequence[str], is_open: bool = False) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    summary = f"<summary>{escape(title)} ({len(sentences)})</summary>"
    return f"<details{' open' * is_open}>{summary}<ul>{items}</ul></details>"


def _table(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Collection[int] = (),
    bars: Mapping[int, Sequence[float]] = {},
    faint: Collection[int] = (),
    most: int = _SHOWN,
) -> str:
    """``words``: columns of text, to the left. ``bars``: numbers that a column shows the size of. ``faint``: rows."""

    def cell(tag: str, column: int, text: str, bar: str = "") -> str:
        return f'<{tag} style="text-align:{"left" if column in words else "right"}">{escape(text)}{bar}</{tag}>'

    def line(row: int) -> str:
        cells = "".join(cell("td", j, text, _bar(bars.get(j), row)) for j, text in enumerate(rows[row]))
        return f'<tr style="opacity:0.6">{cells}</tr>' if row in faint else f"<tr>{cells}</tr>"

    body = "".join(line(row) for row in range(min(most, len(rows))))
    if len(rows) > most:
        body += f'<tr><td colspan="{len(header)}" style="text-align:left">… and {len(rows) - most} more</td></tr>'
    top = "".join(cell("th", j, text) for j, text in enumerate(header))
    style = "caption-side:top;text-align:left;color:inherit;font-weight:bold"
    head = f'<caption style="{style}">{escape(caption)}</caption><thead><tr>{top}</tr></thead>'
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _bar(values: Sequence[float] | None, row: int) -> str:
    """The size of a number beside the largest one."""
    if values is None:
        return ""
    most = max((value for value in values if isfinite(value)), default=0.0)
    value = values[row]
    share = 1.0 if isinf(value) and value > 0 else value / most if most > 0 and value > 0 else 0.0
    style = f"display:inline-block;width:{4 * share:.2f}em;margin:0 {4 - 4 * share:.2f}em 0 0.5em"
    return f'<span style="{style};height:0.6em;background:currentColor;opacity:0.4"></span>'

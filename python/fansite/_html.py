# SPDX-License-Identifier: Apache-2.0
"""Results as notebooks show them: one table, escaped, cut where it gets long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._boundaries_result import BoundariesResult, Boundary
    from ._compare import Comparison
    from ._graph_result import GraphResult

_SHOWN = 20


def boundaries(result: BoundariesResult) -> str:
    rows = [
        [boundary.target, _nats(boundary.entropy), _nats(boundary.conditional_entropy), _list(boundary)]
        for boundary in result.boundaries.values()
    ]
    caption = f"{_count(len(rows), 'boundary', 'boundaries')} of {result.rows} rows, {result.estimator} estimator"
    return _table(caption, ["target", "entropy", "given the boundary", "members and their gains"], rows)


def boundary(result: Boundary) -> str:
    rows = [
        [m.name, f"{_nats(m.gain)} ± {_nats(m.se)}", _nats(m.unique), _p(m.p_value), _p(m.q_value), m.role or ""]
        for m in result.members
    ]
    rows += [[f"({miss.name})", _nats(miss.gain), "", _p(miss.p_value), _p(miss.q_value), miss.reason]
             for miss in result.near_misses]  # fmt: skip
    return _table(f"Markov boundary of {result.target}", ["member", "gain", "unique", "p", "q", ""], rows)


def graph(result: GraphResult) -> str:
    rows = []
    for edge in sorted(result.edges, key=lambda edge: -(edge.existence.value if edge.existence else edge.weight)):
        strength = edge.existence.value if edge.existence else edge.weight
        arrow = "→" if edge.directed else "–"
        rows.append([f"{edge.source} {arrow} {edge.target}", _nats(strength), edge.direction_by or ""])
    undecided = sum(not edge.directed for edge in result.edges)
    caption = f"{_count(len(rows), 'edge', 'edges')} of {result.rows} rows, {undecided} of undecided direction"
    return _table(caption, ["edge", "strength", "direction by"], rows)


def comparison(result: Comparison) -> str:
    names = next((list(each["scores"]) for each in result.summary if each.get("scores")), [])
    rows = []
    for each in result.summary:
        scores = [_score(name, (each.get("scores") or {}).get(name)) for name in names]
        cells = ", ".join(f"{each[how]} {how}" for how in ("done", "timeout", "refused", "failed") if each[how])
        seconds = result.timing["methods"][each["method"]]["seconds"]
        claimed = ["–", "–", "–"] if not each["done"] else [f"{each['pairs']:.0f}", str(each["alone"]), f"{seconds:.2f}"]
        rows.append([each["method"], *scores, *claimed, cells, each.get("reason", "")])
    caption = f"{_count(len(rows), 'method', 'methods')} compared, {_count(len(result.tables), 'table', 'tables')}"
    return _table(caption, ["method", *names, "pairs", "alone", "seconds", "cells", ""], rows)


def _score(name: str, score: dict[str, float | None] | None) -> str:
    if score is None or score["mean"] is None:
        return "–"
    scale = 1 if name == "SHD" else 100
    return f"{scale * score['mean']:.1f} ± {scale * (score['sd'] or 0):.1f}"


def _list(boundary: Boundary) -> str:
    shown = ", ".join(f"{member.name} {_nats(member.gain)}" for member in boundary.members[:_SHOWN])
    more = len(boundary.members) - _SHOWN
    return (shown or "(empty)") + (f" and {more} more" if more > 0 else "")


def _count(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _nats(value: float) -> str:
    return "" if isnan(value) else f"{value:.3f}"


def _p(value: float) -> str:
    return "" if isnan(value) else f"{value:.2g}"


def _table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(tag: str, cells: Iterable[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line("td", row) for row in rows[:_SHOWN])
    if len(rows) > _SHOWN:
        body += line("td", [f"… and {len(rows) - _SHOWN} more"])
    head = f"<caption>{escape(caption)}</caption><thead>{line('th', header)}</thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>"

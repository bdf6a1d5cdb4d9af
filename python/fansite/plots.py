# SPDX-License-Identifier: Apache-2.0
"""Pictures of results, with matplotlib: ``pip install fansite[plots]``.

Each takes a fitted estimator or its result, draws into ``ax``, or a new figure, and returns the axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _layout
from ._labels import found_in, name_of

__all__ = ["boundary", "graph", "moral_graph", "path"]

_BLUE, _GREY = "#3b6ea5", "#9a9a9a"


def boundary(found: Any, target: str, ax: Any = None) -> Any:
    """Bars of what each member of a boundary adds, with standard errors; near misses are grey.

    Parameters
    ----------
    found : MarkovBoundary, BoundariesResult or BoundarySelector
        What was found.
    target : str
        The variable.
    ax : matplotlib Axes or None
        Where to draw.
    """
    one = _boundary(found, target)
    bars = [(name_of(m.name), m.gain, m.se, _BLUE) for m in one.members if np.isfinite(m.gain)]
    bars += [(name_of(m.name), m.gain, m.se, _GREY) for m in one.near_misses if np.isfinite(m.gain)]
    ax = _axes(ax)
    names, gains, errors, colours = zip(*bars) if bars else ((), (), (), ())
    place = np.arange(len(bars))
    ax.barh(place, gains, xerr=errors, color=colours, capsize=3)
    ax.set_yticks(place, names)
    ax.invert_yaxis()
    ax.set_xlabel("gain in nats, given those above")
    ax.set_title(f"Markov boundary of {name_of(target)}" + ("" if one.members else ": empty"))
    return ax


def path(found: Any, target: str, ax: Any = None) -> Any:
    """How the entropy of a target falls as variables are taken in; a line marks the boundary's size.

    Parameters
    ----------
    found : MarkovBoundary, BoundariesResult or BoundarySelector
        What was found.
    target : str
        The variable.
    ax : matplotlib Axes or None
        Where to draw.
    """
    one = _boundary(found, target)
    if one.path:
        names = [step.name for step in one.path]
        entropies = [one.entropy, *(step.conditional_entropy for step in one.path)]
        where = " on held-out rows"
    else:
        names = one.names
        entropies = [one.entropy, *(one.entropy - np.cumsum([member.gain for member in one.members]))]
        where = ""
    ax = _axes(ax)
    ax.plot(range(len(entropies)), entropies, marker="o", color=_BLUE)
    ax.axvline(len(one.members), color=_GREY, linestyle="--")
    ax.set_xticks(range(len(entropies)), ["(none)", *map(name_of, names)], rotation=45, ha="right")
    ax.set_ylabel(f"entropy of {name_of(target)} in nats{where}")
    ax.set_title(f"Growing the boundary of {name_of(target)}")
    return ax


def moral_graph(found: Any, ax: Any = None) -> Any:
    """The moral graph: a line for each pair in each other's boundary.

    Parameters
    ----------
    found : MarkovBoundary or BoundariesResult
        What was found.
    ax : matplotlib Axes or None
        Where to draw.
    """
    result = getattr(found, "result_", found)
    ax, links, position = _draw_nodes(result.variables, result.moral_edges, _layout.spring, "Moral graph", ax)
    for i, j in links:
        ax.plot(*position[[i, j]].T, color=_GREY, zorder=1)
    return ax


def graph(found: Any, ax: Any = None) -> Any:
    """The causal graph, causes above effects; an edge whose direction is undecided has no arrow and is dashed.

    Parameters
    ----------
    found : CausalGraph or GraphResult
        What was found.
    ax : matplotlib Axes or None
        Where to draw.
    """
    result = getattr(found, "result_", found)
    pairs = [(edge.source, edge.target) for edge in result.edges]
    ax, links, position = _draw_nodes(result.variables, pairs, _layout.layered, "Causal graph", ax)
    for edge, (i, j) in zip(result.edges, links):
        style = "->" if edge.directed else "-"
        arrow = {
            "arrowstyle": style,
            "color": _BLUE if edge.directed else _GREY,
            "linestyle": "-" if edge.directed else "--",
            "shrinkA": 12,
            "shrinkB": 12,
            "connectionstyle": "arc3,rad=0.08",
        }
        ax.annotate("", xy=position[j], xytext=position[i], arrowprops=arrow)
    return ax


def _draw_nodes(names: list[str], pairs: list[tuple[str, str]], layout: Any, title: str, ax: Any) -> tuple[Any, ...]:
    """The axes with all nodes drawn, the pairs as numbers, and where the nodes are."""
    place = {name: i for i, name in enumerate(names)}
    links = [(place[first], place[second]) for first, second in pairs]
    position = layout(len(names), links)
    ax = _axes(ax)
    for (x, y), name in zip(position, names):
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": _BLUE}
        ax.text(x, y, name_of(name), ha="center", va="center", zorder=2, bbox=box)
    ax.set_xlim(-0.1, 1.1)
    ax.set_ylim(-0.1, 1.1)
    ax.set_axis_off()
    ax.set_title(title)
    return ax, links, position


def _boundary(found: Any, target: str) -> Any:
    result = getattr(found, "result_", found)
    try:
        return found_in(result.boundaries, target, "[plots] there is no boundary of")
    except KeyError as error:
        raise ValueError(error.args[0]) from None


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install fansite[plots]") from error
    return plt.subplots(layout="constrained")[1]

# SPDX-License-Identifier: Apache-2.0
"""Where to draw the nodes of a graph, without Graphviz: (x, y) in the unit square, the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Edges = Sequence[tuple[int, int]]


def layered(nodes: int, edges: Edges) -> np.ndarray[Any, Any]:
    """Causes above effects: a layer for each length of the longest way there; the edges make no cycle."""
    layer = _longest_ways(nodes, edges)
    rows = [np.flatnonzero(layer == level).tolist() for level in range(layer.max(initial=0) + 1)]
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    x = np.zeros(nodes)
    for row in rows:
        _spread(x, row)
    for sweep in range(8):  # each node to the middle of its neighbours: few crossings
        for row in rows if sweep % 2 == 0 else reversed(rows):
            middle = {node: np.mean(x[neighbours[node]]) if neighbours[node] else x[node] for node in row}
            row.sort(key=lambda node: (middle[node], node))
            _spread(x, row)
    y = 1 - layer / max(1, layer.max(initial=0))
    return np.column_stack([x, y])


def _longest_ways(nodes: int, edges: Edges) -> np.ndarray[Any, Any]:
    layer = np.zeros(nodes, dtype=int)
    for _ in range(nodes):
        before = layer.copy()
        for i, j in edges:
            layer[j] = max(layer[j], layer[i] + 1)
        if np.array_equal(layer, before):
            return layer
    raise ValueError("[plots] the edges make a cycle; layers need a graph without one.")


def _spread(x: np.ndarray[Any, Any], row: list[int]) -> None:
    for place, node in enumerate(row):
        x[node] = (place + 0.5) / len(row)


def spring(nodes: int, edges: Edges, rounds: int = 100) -> np.ndarray[Any, Any]:
    """Linked nodes near each other, others apart (Fruchterman and Reingold), begun on a circle."""
    angle = 2 * np.pi * np.arange(nodes) / max(1, nodes)
    position = np.column_stack([np.cos(angle), np.sin(angle)])
    if nodes > 1:
        linked = np.zeros((nodes, nodes))
        for i, j in edges:
            linked[i, j] = linked[j, i] = 1
        distance_wanted = 2 / np.sqrt(nodes)
        for round in range(rounds):
            difference = position[:, None, :] - position[None, :, :]
            distance = np.maximum(np.linalg.norm(difference, axis=2), 1e-3)
            force = distance_wanted**2 / distance**2 - linked * distance / distance_wanted
            # A pull to the middle holds parts together that are not linked.
            step = (difference * force[:, :, None]).sum(axis=1) - 0.1 * position
            length = np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-9)
            position = position + step / length * np.minimum(length, 0.2 * (1 - round / rounds))
    low, high = position.min(axis=0, initial=0), position.max(axis=0, initial=0)
    unit: np.ndarray[Any, Any] = (position - low) / np.maximum(high - low, 1e-9)
    return unit

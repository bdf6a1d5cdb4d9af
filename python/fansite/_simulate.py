# SPDX-License-Identifier: Apache-2.0
"""Data with known truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._exports import imported
from ._methods import SIMULATE
from ._running import running
from ._settings import plain, seed_of


@dataclass(frozen=True)
class Simulation:
    """A table and the graph that it was made from."""

    names: list[str]
    """x1, x2, ...; genes are g1, g2, ..."""
    values: np.ndarray[Any, Any]
    """Rows by variables."""
    adjacency: np.ndarray[Any, Any]
    """A[i, j] = 1 means i -> j."""
    weights: np.ndarray[Any, Any]
    """Of linear relations; the sign of regulation for genes; else 0 and 1."""
    noise: list[str]
    """The distribution of each variable's noise."""
    kinds: list[str]
    """Of each column: continuous, levels or counts."""
    hidden_cause_pairs: list[tuple[str, str]]
    """Pairs of variables that share a hidden cause."""

    @property
    def boundaries(self) -> dict[str, list[str]]:
        """The true Markov boundary of every variable in the graph, which has no hidden causes."""
        dag = _core.Dag(self.adjacency)
        return {
            name: [self.names[member] for member in dag.markov_boundary(node)] for node, name in enumerate(self.names)
        }

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        pd = imported("pandas", "pandas", "to_pandas")

        return pd.DataFrame(self.values, columns=self.names)

    def to_networkx(self) -> Any:
        """The graph as a networkx DiGraph."""
        graph = imported("networkx", "networkx", "to_networkx").DiGraph()
        graph.add_nodes_from(self.names)
        for i, j in zip(*np.nonzero(self.adjacency)):
            graph.add_edge(self.names[i], self.names[j], weight=float(self.weights[i, j]))
        return graph


def simulate(
    *,
    graph: str = 'er',
    nodes: int = 30,
    degree: float = 1.0,
    hidden: int = 0,
    sem: str = 'linear',
    noise: str = 'gauss',
    rows: int = 1000,
    weight_low: float = 0.5,
    weight_high: float = 2.0,
    measurement_noise: float = 0.0,
    kinds: str = 'continuous',
    children_see: str = 'variables',
    missing_share: float = 0.0,
    missing_by: str = 'random',
    random_state: int | np.random.RandomState | np.random.Generator | None = 0,
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> Simulation:
    """Make data with known truth, as ``fansite simulate`` does. The same seed gives the same bits on every machine.

    Parameters
    ----------
    graph : {'er', 'sf'}
        Erdős–Rényi or scale-free.
    nodes : int
        Number of variables.
    degree : float
        Edges per variable.
    hidden : int
        Number of hidden common causes. Each acts on two or three variables, which are not adjacent as long as there are
        such; it has no column and no node in the graph.
    sem : {'linear', 'gp', 'mlp', 'pnl', 'gene'}
        The equations: linear, Gaussian process, network, post-nonlinear, or of gene regulation.
    noise : {'gauss', 'uniform', 'laplace', 'gumbel', 'exponential', 'mixed'}
        The distribution of the noise.
    rows : int
        Number of rows.
    weight_low, weight_high : float
        The size of linear weights.
    measurement_noise : float
        Share of Gaussian noise in the variance of each column, from 0 to below 1. The equations of children do not see
        it, and it is added before ``kinds`` and missing cells.
    kinds : {'continuous', 'mixed', 'levels', 'counts'}
        What the columns are made of the variables: the variables themselves, two to five levels, counts with many
        zeros, or some of each.
    children_see : {'variables', 'columns'}
        What the equations of children are given: variables before they are made coarse, which are those of the same
        seed without ``kinds``; or the columns, so that the boundaries of the graph are those of the table. A coarse
        column screens off less than its variable does.
    missing_share : float
        Share of missing cells, which are NaN; 0.5 at most.
    missing_by : {'random', 'column'}
        Cells are missing at random, or where another column, which is complete, is large.
    random_state, n_jobs, verbose
        As in MarkovBoundary.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> table = fansite.simulate(nodes=3, rows=100, random_state=2)
    >>> table.values.shape
    (100, 3)
    >>> table.boundaries
    {'x1': ['x3'], 'x2': ['x3'], 'x3': ['x1', 'x2']}
    """
    given = {"graph": graph, "nodes": nodes, "degree": degree, "sem": sem, "noise": noise, "rows": rows}
    given |= {"hidden": hidden, "measurement_noise": measurement_noise}
    given |= {"weight_low": weight_low, "weight_high": weight_high, "seed": seed_of(random_state)}
    given |= {"kinds": kinds, "children_see": children_see, "missing_share": missing_share, "missing_by": missing_by}
    options = {name: plain(SIMULATE[name], value) for name, value in given.items()}
    with running(n_jobs, verbose) as run:
        made = _core.simulate(options, run)
    return Simulation(
        made.names, made.values, made.adjacency, made.weights, made.noise, made.kinds, made.hidden_cause_pairs
    )

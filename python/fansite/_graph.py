# SPDX-License-Identifier: Apache-2.0
"""A causal graph of a table's variables."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from ._boundaries_result import BoundariesResult
from ._boundary import MarkovBoundary
from ._finder import Finder
from ._graph_result import GraphResult
from ._knowledge import Knowledge, for_table
from ._running import running
from ._settings import assign, assign_paths, seed_of
from ._table import as_dataset, is_pandas, labelled

_C = _core.CausalGraphParams()  # the defaults are C++'s


class CausalGraph(Finder[GraphResult]):
    """Find a causal graph of the variables of a table, as ``fansite dag`` does.

    Markov boundaries come first; inside their moral graph, the graph is sought in which noise adds and is least.
    A direction that the data do not decide stays open and is called so. Hidden common causes are not modelled.

    Parameters
    ----------
    method : {'fansite-anm', 'fansite-dcd', 'sdcd'}
        Additive noise inside the moral graph; the others as published, for comparison.
    knowledge : Knowledge, path or None
        fansite-anm: what is known beforehand; the graph satisfies it.
    dag : bool
        fansite-anm: a direction for every edge, decided by the data or not.
    noise : {'any', 'gaussian'}
        fansite-anm: the distribution of the noise.
    scale : {'auto', 'original', 'normal-scores'}
        fansite-anm: where noise adds: on the columns' own scale, on their normal scores, or by a test.
    penalty : float
        fansite-anm: what an edge must be worth, in units of ln N / 2N nats.
    confidence : float
        fansite-anm: standard errors by which the other direction must be worse.
    max_parents : int
        fansite-anm: at most so many.
    max_rows : int
        fansite-anm: rows used, drawn at random; 0: all of them.
    standardise : bool
        fansite-dcd, sdcd: columns to mean 0 and variance 1 first.
    epochs : int
        fansite-dcd, sdcd: times through the rows, at most, of the second stage.
    threshold : float
        fansite-dcd, sdcd: edges of the graph have at least this weight.
    estimator, effort, fdr
        Of the boundaries, as in MarkovBoundary.
    model, save_model, checkpoint : path or None
        Of the boundaries' flows, as in MarkovBoundary; the graph's search keeps its state in checkpoint + ".graph".
    time_budget : float
        fansite-anm: seconds after which the best answer so far is wanted, marked as such; 0: as long as it takes.
    missing, random_state, n_jobs, verbose
        As in MarkovBoundary.

    Attributes
    ----------
    adjacency_ : DataFrame or ndarray of shape (n_features, n_features)
        A[i, j] = 1 means i -> j; an edge of undecided direction has both entries. A DataFrame if the table was one.
    weights_ : DataFrame or ndarray of shape (n_features, n_features)
        The weight of i -> j: nats of evidence, or norms of network weights for fansite-dcd and sdcd.
    edges_ : list of Edge
        The edges with the evidence for each and, apart, for its direction.
    result_ : GraphResult
        Everything, with each variable's parents, children and spouses.
    n_features_in_, feature_names_in_
        Number and names of the variables; x1, x2, ... if they came without.

    Examples
    --------
    >>> table = fansite.simulate(nodes=3, rows=200, noise="exponential", random_state=2)
    >>> found = fansite.CausalGraph().fit(table.values)
    >>> for edge in found.edges_:
    ...     print(edge.source, "->" if edge.directed else "--", edge.target)
    x3 -> x1
    x3 -> x2
    """

    def __init__(
        self,
        *,
        method: str = _C.method,
        knowledge: Knowledge | str | os.PathLike[str] | None = None,
        dag: bool = _C.force_dag,
        noise: str = _C.additive_noise.noise,
        scale: str = _C.additive_noise.scale,
        penalty: float = _C.additive_noise.penalty,
        confidence: float = _C.additive_noise.confidence,
        max_parents: int = _C.additive_noise.max_parents,
        max_rows: int = _C.additive_noise.max_rows,
        standardise: bool = _C.differentiable.standardise,
        epochs: int = _C.differentiable.second.max_epochs,
        threshold: float = _C.differentiable.threshold,
        estimator: str = _C.boundaries.estimator,
        effort: str = _C.boundaries.effort,
        fdr: float = _C.boundaries.search.fdr,
        model: str | os.PathLike[str] | None = None,
        save_model: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        time_budget: float = _C.time_budget,
        missing: str = "error",
        random_state: int | np.random.RandomState | np.random.Generator | None = _C.seed,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.method = method
        self.knowledge = knowledge
        self.dag = dag
        self.noise = noise
        self.scale = scale
        self.penalty = penalty
        self.confidence = confidence
        self.max_parents = max_parents
        self.max_rows = max_rows
        self.standardise = standardise
        self.epochs = epochs
        self.threshold = threshold
        self.estimator = estimator
        self.effort = effort
        self.fdr = fdr
        self.model = model
        self.save_model = save_model
        self.checkpoint = checkpoint
        self.time_budget = time_budget
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        boundaries: MarkovBoundary | BoundariesResult | str | os.PathLike[str] | None = None,
    ) -> CausalGraph:
        """Find the graph.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table: pandas, polars or anything with ``__arrow_c_stream__``, or numbers.
        y : None
            Not used; here for scikit-learn.
        boundaries : MarkovBoundary, BoundariesResult, path or None
            Boundaries of all variables of this table, or the file that ``fansite mb`` wrote; None: they are found.

        Returns
        -------
        CausalGraph
            The estimator itself.
        """
        data = as_dataset(X, self.missing)
        params = self._params()
        links = None if boundaries is None else _links(boundaries, data.names)
        with running(self.n_jobs, self.verbose) as run:
            text = _core.causal_graph(data, links, for_table(self.knowledge, data.names), params, run)
        result = GraphResult.from_json(text)
        self._keep(result)
        self.edges_ = result.edges
        self.adjacency_ = labelled(result.adjacency(), result.variables, is_pandas(X))
        self.weights_ = labelled(result.weights, result.variables, is_pandas(X))
        return self

    def _params(self) -> _core.CausalGraphParams:
        params = _core.CausalGraphParams()
        assign(params, {"method": self.method, "force_dag": self.dag, "seed": seed_of(self.random_state)})
        assign(params, {"time_budget": self.time_budget})
        assign(
            params.additive_noise,
            {name: getattr(self, name) for name in ("noise", "scale", "penalty", "confidence", "max_parents", "max_rows")},
        )
        assign(params.differentiable, {"standardise": self.standardise, "threshold": self.threshold})
        assign(params.differentiable.second, {"max_epochs": self.epochs})
        assign(params.boundaries, {"estimator": self.estimator, "effort": self.effort})
        assign(params.boundaries.search, {"fdr": self.fdr})
        assign_paths(params.boundaries.files, model=self.model, save_model=self.save_model)
        assign_paths(params, checkpoint=self.checkpoint)
        return params


def _links(boundaries: Any, names: list[str]) -> np.ndarray[Any, Any]:
    """The moral graph of boundaries, in the table's columns."""
    if isinstance(boundaries, MarkovBoundary):
        boundaries = boundaries._result()
    elif not isinstance(boundaries, BoundariesResult):
        boundaries = BoundariesResult.load(boundaries)
    if set(boundaries.boundaries) != set(names):
        raise ValueError(
            f"[dag] the boundaries are of {len(boundaries)} variables and the table has {len(names)}, or others;"
            " give those of all variables of this table."
        )
    order = [boundaries.variables.index(name) for name in names]
    links: np.ndarray[Any, Any] = boundaries.moral_graph()[np.ix_(order, order)]
    return links

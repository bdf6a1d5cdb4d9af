# SPDX-License-Identifier: Apache-2.0
"""A causal graph of a table's variables."""

from __future__ import annotations

import os
from typing import Any, Literal, overload

from . import _core
from ._boundaries_result import BoundariesResult
from ._boundary import DEFAULT as BOUNDARY_DEFAULT
from ._boundary import MarkovBoundary
from ._finder import Finder
from ._graph_result import GraphResult
from ._knowledge import for_table
from ._labels import is_pandas
from ._methods import Method, method_named
from ._parameters import GraphParameters
from ._settings import documented, method_options, run_options
from ._table import Roles, as_table, labelled

DEFAULT = "fansite-anm"  # the method whose parameters are written out


@documented
class CausalGraph(GraphParameters, Finder[GraphResult]):
    """Find a causal graph of the variables of a table, as ``fansite dag`` does.

    Markov boundaries come first; inside their moral graph, the graph is sought in which noise adds and is least.
    A direction that the data do not decide stays open and is called so. Hidden common causes are not modelled.

    {parameters}

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
        Number and names of the variables, as their data frame has them; x1, x2, ... if they came without.

    Examples
    --------
    >>> table = fansite.simulate(nodes=3, rows=200, noise="exponential", random_state=2)
    >>> found = fansite.CausalGraph().fit(table.values)
    >>> for edge in found.edges_:
    ...     print(edge.source, "->" if edge.directed else "--", edge.target)
    x3 -> x1
    x3 -> x2
    """

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
        X : DataFrame, array-like of shape (n_samples, n_features) or path
            The table: pandas, polars, Arrow, an array, or a file (docs/tables.md says what becomes of its columns).
        y : None
            Not used; here for scikit-learn.
        boundaries : MarkovBoundary, BoundariesResult, path or None
            Boundaries of all variables of this table, or the file that ``fansite mb`` wrote; None: they are found.

        Returns
        -------
        CausalGraph
            The estimator itself.
        """
        table = as_table(X, self.missing, Roles.of(self, X))
        method = method_named("graph", self.method, "method")
        options = method_options(self, method, method_named("graph", DEFAULT, "method"), self.options)
        found_how, found_with = self._boundary_options(method, boundaries)
        with table.working(self.n_jobs, self.verbose) as run:
            text = _core.causal_graph(
                table.data,
                None if boundaries is None else _json_of(boundaries),
                for_table(self.knowledge, table.data.names),
                method.name,
                options,
                found_how.name,
                found_with,
                run_options(self),
                run,
            )
            result = GraphResult._of(text, table.labels)
        self._keep(result)
        self.edges_ = result.edges
        self.adjacency_ = labelled(result.adjacency(), result.variables, is_pandas(X))
        self.weights_ = labelled(result.weights, result.variables, is_pandas(X))
        return self

    def to_pgmpy(self, *, hidden_causes: bool = True) -> Any:
        """A pgmpy DAG, or a PDAG if a direction is undecided, as ``result_.to_pgmpy`` has it.

        Parameters
        ----------
        hidden_causes : bool
            Give hidden causes latent nodes.
        """
        return self.result_.to_pgmpy(hidden_causes=hidden_causes)

    def to_causallearn(self) -> Any:
        """A causal-learn GeneralGraph, as ``result_.to_causallearn`` has it."""
        return self.result_.to_causallearn()

    @overload
    def to_dowhy(self, *, undecided: Literal["error", "best"] = ..., hidden_causes: bool = ...) -> str: ...
    @overload
    def to_dowhy(self, *, undecided: Literal["all"], hidden_causes: bool = ...) -> list[str]: ...
    def to_dowhy(
        self, *, undecided: Literal["error", "best", "all"] = "error", hidden_causes: bool = True
    ) -> str | list[str]:
        """The graph in GML for DoWhy, as ``result_.to_dowhy`` has it.

        Parameters
        ----------
        undecided : {'error', 'best', 'all'}
            Edges of undecided direction: a ValueError that names them; as in the best graph of fansite-anm; or a list
            of every graph that directs them without a cycle or a new collider, so that effects come as a range.
        hidden_causes : bool
            Give hidden causes unobserved nodes.
        """
        return self.result_.to_dowhy(undecided=undecided, hidden_causes=hidden_causes)

    def _boundary_options(self, method: Method, boundaries: Any) -> tuple[Method, dict[str, Any]]:
        """How boundaries are found; a ValueError for parameters of what is not done."""
        default = method_named("boundary", BOUNDARY_DEFAULT, "boundary_method")
        boundary_method = method_named("boundary", self.boundary_method, "boundary_method")
        options = method_options(self, boundary_method, default, self.boundary_options)
        if not method.capabilities["needs_boundaries"] and boundaries is not None:
            raise ValueError(f"[boundaries] {method.name} needs none; leave them out.")
        if not method.capabilities["needs_boundaries"] or boundaries is not None:
            why = f"{method.name} needs no boundaries" if boundaries is None else "boundaries are given"
            for name, value in options.items():
                if value != boundary_method.parameters[name].default:
                    raise ValueError(f"[{name}] {why}, so none are found; leave it out.")
        return boundary_method, options


def _json_of(boundaries: Any) -> str:
    if isinstance(boundaries, MarkovBoundary):
        return boundaries.to_json()
    if not isinstance(boundaries, BoundariesResult):
        boundaries = BoundariesResult.load(boundaries)
    text: str = boundaries.to_json()
    return text

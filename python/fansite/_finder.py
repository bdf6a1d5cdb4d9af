# SPDX-License-Identifier: Apache-2.0
"""Estimators whose ``fit`` finds a result."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from ._boundaries_result import BoundariesResult
from ._explain import Explanation
from ._graph_result import GraphResult
from ._labels import as_array
from ._settings import Estimator
from ._table import warn

Found = TypeVar("Found", BoundariesResult, GraphResult)


class Finder(Estimator, Generic[Found]):
    """Keeps what was found in ``result_``, and gives it in all its forms."""

    result_: Found

    def to_json(self) -> str:
        """The same text as the command line writes (docs/formats.md)."""
        return self.result_.to_json()

    def explain(self, name: str) -> Explanation:
        """What was found of a variable, in sentences; in a notebook or console they show as they are.

        Parameters
        ----------
        name : str
            The variable.
        """
        return self.result_.explain(name)

    def to_pandas(self) -> Any:
        """The result as a pandas DataFrame, as ``result_.to_pandas`` has it."""
        return self.result_.to_pandas()

    def to_networkx(self) -> Any:
        """The result as a networkx graph, as ``result_.to_networkx`` has it."""
        return self.result_.to_networkx()

    def to_igraph(self) -> Any:
        """The result as an igraph Graph, as ``result_.to_igraph`` has it."""
        return self.result_.to_igraph()

    def to_dot(self) -> str:
        """The graph in Graphviz's language, as ``result_.to_dot`` has it."""
        return self.result_.to_dot()

    def _repr_html_(self) -> str | None:
        return self.result_._repr_html_() if self.__sklearn_is_fitted__() else None

    def _keep(self, result: Found) -> None:
        """Called by ``fit``, at whose caller the warnings point."""
        warn(result.warnings, stacklevel=4)
        if not result.complete:
            warn([f"not finished: {result.unfinished}"], stacklevel=4)
        self.result_ = result
        self.n_features_in_ = len(result.variables)
        self.feature_names_in_ = as_array(result.variables)

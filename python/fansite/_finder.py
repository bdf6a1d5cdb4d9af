# SPDX-License-Identifier: Apache-2.0
"""Estimators whose ``fit`` finds a result."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from ._boundaries_result import BoundariesResult
from ._graph_result import GraphResult
from ._settings import Estimator
from ._table import warn

Found = TypeVar("Found", BoundariesResult, GraphResult)


class Finder(Estimator, Generic[Found]):
    """Keeps what was found in ``result_``, and gives it in all its forms."""

    result_: Found

    def to_json(self) -> str:
        """The same text as the command line writes (docs/formats.md)."""
        return self._result().to_json()

    def to_pandas(self) -> Any:
        """The result as a pandas DataFrame, as ``result_.to_pandas`` has it."""
        return self._result().to_pandas()

    def to_networkx(self) -> Any:
        """The result as a networkx graph, as ``result_.to_networkx`` has it."""
        return self._result().to_networkx()

    def to_dot(self) -> str:
        """The graph in Graphviz's language, as ``result_.to_dot`` has it."""
        return self._result().to_dot()

    def _repr_html_(self) -> str | None:
        return self.result_._repr_html_() if self.__sklearn_is_fitted__() else None

    def _keep(self, result: Found) -> None:
        """Called by ``fit``, at whose caller the warnings point."""
        warn(result.warnings, stacklevel=4)
        if not result.complete:
            warn([f"not finished: {result.unfinished}"], stacklevel=4)
        self.result_ = result
        self.n_features_in_ = len(result.variables)
        self.feature_names_in_ = np.array(result.variables, dtype=object)

    def _result(self) -> Found:
        result: Found = self._learned("result_")
        return result

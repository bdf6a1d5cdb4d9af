# SPDX-License-Identifier: Apache-2.0
"""Parameters of estimators, as scikit-learn has them, without needing it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

EstimatorType = TypeVar("EstimatorType", bound="Estimator")


class NotFittedError(ValueError, AttributeError):
    """Something was asked of an estimator before ``fit``."""


class Estimator:
    """Parameters are the keyword-only arguments of the constructor, kept as they are given."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls).parameters
        return {name: parameter.default for name, parameter in parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep : bool
            For scikit-learn; no parameter has parameters of its own.
        """
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self: EstimatorType, **params: Any) -> EstimatorType:
        """Change parameters by name.

        Parameters
        ----------
        **params
            The new values.

        Returns
        -------
        Estimator
            The estimator itself.
        """
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"[{type(self).__name__}] there is no parameter '{name}'; they are {', '.join(known)}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _learned(self, attribute: str) -> Any:
        if not hasattr(self, attribute):
            raise NotFittedError(f"[{type(self).__name__}] nothing has been learnt yet; call fit(X) first.")
        return getattr(self, attribute)


def assign(params: object, values: Mapping[str, Any]) -> None:
    """Set fields of a C++ structure; a value of the wrong type is a TypeError that names the field."""
    for name, value in values.items():
        wanted = type(getattr(params, name))
        if wanted is bool and isinstance(value, np.bool_):
            value = bool(value)
        try:
            setattr(params, name, value)
        except TypeError:
            raise TypeError(
                f"{name} = {value!r} is of the wrong type, {type(value).__name__}; give {_KINDS[wanted]}."
            ) from None


_KINDS = {
    bool: "True or False",
    float: "a number",
    int: "a whole number in range",
    list: "a list of names",
    str: "a word",
}


def assign_paths(params: object, **paths: str | os.PathLike[str] | None) -> None:
    """Set fields that are paths; None is "", nowhere."""
    assign(params, {name: "" if path is None else os.fspath(path) for name, path in paths.items()})


def seed_of(random_state: int | np.random.RandomState | np.random.Generator | None) -> int:
    """The seed that a ``random_state`` means."""
    if random_state is None:
        return int.from_bytes(os.urandom(8))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, (int, np.integer)) and 0 <= random_state < 2**64:
        return int(random_state)
    raise ValueError(
        f"random_state = {random_state!r} is no seed; give a whole number from 0 on, a NumPy generator, or None."
    )

# SPDX-License-Identifier: Apache-2.0
"""Parameters of estimators, as scikit-learn has them, without needing it."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ._labels import unknown
from ._methods import RUN, Method, Parameter

EstimatorType = TypeVar("EstimatorType", bound="Estimator")


class NotFittedError(ValueError, AttributeError):
    """Something was asked of an estimator before ``fit``."""


def no_attribute(estimator: Any, name: str, fitted: bool) -> AttributeError:
    """What to raise where an estimator is asked for what it does not have."""
    kind = type(estimator).__name__
    if name.startswith("_") and name not in ("_fitted", "_labels"):
        return AttributeError(f"'{kind}' object has no attribute '{name}'")
    if not fitted and (name.endswith("_") or name.startswith("_")):
        return not_fitted(f"[{kind}] nothing has been learnt yet; call fit(X) first.")
    known = [each for each in dir(estimator) if not each.startswith("_")]
    return AttributeError(unknown(name, known, f"'{kind}' object has no attribute"))


def not_fitted(sentence: str) -> NotFittedError:
    """An error that is scikit-learn's NotFittedError too, if scikit-learn is there."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
    if theirs is None:
        return NotFittedError(sentence)
    error: NotFittedError = _shared(theirs)(sentence)
    return error


@cache
def _shared(theirs: type) -> Any:
    def reduced(self: Exception) -> Any:  # goes through joblib
        return not_fitted, self.args

    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__, "__reduce__": reduced})


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
                raise ValueError(unknown(name, known, f"[{type(self).__name__}] there is no parameter"))
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
        return "n_features_in_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn since 1.6 asks, and only that has Tags.
        from sklearn.utils import InputTags, Tags, TargetTags

        takes = InputTags(allow_nan=True, string=True, categorical=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=takes)

    if not TYPE_CHECKING:  # to which every name would be one

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, name, self.__sklearn_is_fitted__())


def plain(parameter: Parameter, value: Any) -> Any:
    """The value as C++ takes it; one of the wrong type is a TypeError that names the parameter."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if parameter.type in ("float", "seconds") and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if parameter.type == "list of float" and not isinstance(value, str) and isinstance(value, Iterable):
        value = [float(each) for each in value]
    wanted, words = _TYPES[parameter.type]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise TypeError(f"{parameter.name} = {value!r} is of the wrong type, {type(value).__name__}; give {words}.")
    return value


_TYPES: dict[str, tuple[type, str]] = {
    "bool": (bool, "True or False"),
    "int": (int, "a whole number in range"),
    "float": (float, "a number"),
    "seconds": (float, "a number of seconds"),
    "str": (str, "a word"),
    "list of float": (list, "a list of numbers"),
    "list of str": (list, "a list of names"),
}


def method_options(
    estimator: Any, method: Method, default: Method, options: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What an estimator's parameters mean for a method: those written out, which are the default method's, and others.

    A ValueError names one that the method does not have.
    """
    values = {}
    for name, parameter in default.parameters.items():
        value = getattr(estimator, name, None)
        if value is None:
            continue
        given = plain(parameter, value)
        if method.name != default.name and given == parameter.default:
            continue  # the method's own default holds
        if name not in method.parameters:
            raise ValueError(f"[{name}] {method.name} has no such parameter; {default.name} has it.")
        values[name] = plain(method.parameters[name], value)
    for name, value in (options or {}).items():
        if name not in method.parameters:
            raise ValueError(unknown(name, method.parameters, f"[options] {method.name} has no such parameter as"))
        if name in values and values[name] != default.parameters[name].default:
            raise ValueError(f"[{name}] it is given twice, as an argument and in options; give it once.")
        values[name] = plain(method.parameters[name], value)
    return values


def run_options(estimator: Any) -> dict[str, Any]:
    """Seed, time budget and files, as far as the estimator has them; None is nowhere."""
    values: dict[str, Any] = {"seed": seed_of(estimator.random_state)}
    for name, parameter in RUN.items():
        value = getattr(estimator, name, None)
        if value is not None:
            values[name] = plain(parameter, value)
    return values


def documented(cls: type) -> type:
    """Puts the parameters that C++ describes where the docstring says so; an unknown one comes with the nearest."""
    known = inspect.signature(cls).parameters
    original: Any = getattr(cls, "__init__")

    @wraps(original)
    def checked(self: Any, *nothing: Any, **given: Any) -> None:
        for name in given:
            if name not in known:
                raise TypeError(unknown(name, known, f"[{cls.__name__}] there is no parameter"))
        original(self, *nothing, **given)

    setattr(cls, "__init__", checked)
    for base in cls.__mro__:
        if base.__module__.endswith("._parameters") and cls.__doc__ is not None:
            # Python 3.13 takes the indentation off docstrings, older ones leave it.
            parameters = inspect.cleandoc(base.__doc__ or "")
            cls.__doc__ = inspect.cleandoc(cls.__doc__).replace("{parameters}", parameters)
    return cls


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

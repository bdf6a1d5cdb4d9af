# SPDX-License-Identifier: Apache-2.0
"""Entropies of any set of variables, from one fit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._result import Result, number
from ._running import running
from ._settings import Estimator, assign, assign_paths, seed_of
from ._table import as_dataset, warn

_C = _core.InformationParams()  # the defaults are C++'s

_INFINITE = float("inf")


class Estimate(float):
    """A number with its standard error over rows, ``se``; calculates as the number.

    Examples
    --------
    >>> estimate = fansite.Estimate(1.25, 0.5)
    >>> estimate + 1
    2.25
    >>> estimate
    Estimate(1.25, se=0.5)
    """

    se: float

    def __new__(cls, value: float, se: float) -> Estimate:
        estimate = super().__new__(cls, value)
        estimate.se = se
        return estimate

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return (float(self), self.se)

    def __repr__(self) -> str:
        return f"Estimate({float(self):.6g}, se={self.se:.3g})"

    def __str__(self) -> str:
        return f"{float(self):.4f} ± {self.se:.4f}"


@dataclass(frozen=True, slots=True)
class Added:
    """What one variable tells of the target beyond the others, in nats."""

    name: str
    information: Estimate


@dataclass(frozen=True, eq=False)
class Information(Result):
    """How uncertain a variable is, given others, and what each of them tells; in nats."""

    target: str
    entropy: Estimate
    """H(target)."""
    conditional_entropy: Estimate
    """H(target | given)."""
    information: Estimate
    """I(target; given)."""
    added: tuple[Added, ...]
    """For each given variable what it adds to the others."""
    scale: str
    """Of the entropies: original, or normal scores where the column holds too many equal values."""
    _FORMAT: ClassVar[str] = "fansite.entropy/2"
    _COMMAND: ClassVar[str] = "fansite entropy"

    @classmethod
    def _fields(cls, read: dict[str, Any]) -> dict[str, Any]:
        return {
            "target": read["target"],
            "entropy": _estimate(read, "entropy", "entropy_se", -_INFINITE),
            "conditional_entropy": _estimate(read, "conditional_entropy", "conditional_entropy_se", -_INFINITE),
            "information": _estimate(read, "information", "information_se", _INFINITE),
            "added": tuple(
                Added(each["name"], _estimate(each, "information", "se", _INFINITE)) for each in read["given"]
            ),
            "scale": read["scale"],
        }

    def to_pandas(self) -> Any:
        """One row for each given variable, as a pandas DataFrame."""
        import pandas as pd

        rows = [(each.name, float(each.information), each.information.se) for each in self.added]
        return pd.DataFrame(rows, columns=["name", "information", "se"])


def _estimate(read: dict[str, Any], value: str, se: str, null: float) -> Estimate:
    return Estimate(number(read[value], null), number(read[se], float("nan")))


class EntropyModel(Estimator):
    """Learn the joint distribution of a table once, then ask for entropies of any of its variables given any others.

    Parameters
    ----------
    estimator : {'flow', 'gaussian'}
        An ensemble of flows for any continuous data, or closed form for linear relations.
    folds, repeats : int
        Flow: each network leaves one of so many parts of the rows out; so many networks for each part.
    steps : int
        Flow: training steps of each network, at most.
    transform : {'rank', 'standardise', 'none'}
        Flow: of each column, before it is learnt.
    base : {'gaussian', 'none'}
        Flow: a Gaussian model under it, or none.
    blocks : int
        Flow: hidden nodes of each rank; 0: 6, more for few variables.
    batch : int
        Flow: rows a step; 0: 64, or 256 from 100 variables on.
    learning_rate : float
        Flow: of the first step.
    schedule : {'cosine', 'constant'}
        Flow: of the learning rate.
    held_out : float
        Flow: share of a network's rows that choose its best step.
    patience : int
        Flow: stop after so many evaluations without improvement; 0: take all steps.
    model, save_model, checkpoint : path or None
        Flow: a trained model to use, where to keep the trained one, where training keeps its state.
    missing, random_state, n_jobs, verbose
        As in MarkovBoundary.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        Number and names of the variables; x1, x2, ... if they came without.

    Examples
    --------
    >>> table = fansite.simulate(nodes=4, rows=400, random_state=3)
    >>> model = fansite.EntropyModel(estimator="gaussian").fit(table.values)
    >>> model.conditional_entropy("x1", given=["x2", "x3"])
    Estimate(1.60667, se=0.0355)
    >>> print(model.mutual_information("x1", "x2", given=["x3"]))
    0.3043 ± 0.0338
    """

    def __init__(
        self,
        *,
        estimator: str = _C.estimator,
        folds: int = _C.flow.folds,
        repeats: int = _C.flow.repeats,
        steps: int = _C.flow.train.steps,
        transform: str = _C.flow.transform,
        base: str = _C.flow.train.base,
        blocks: int = _C.flow.blocks,
        batch: int = _C.flow.train.batch,
        learning_rate: float = _C.flow.train.learning_rate,
        schedule: str = _C.flow.train.schedule,
        held_out: float = _C.flow.train.held_out,
        patience: int = _C.flow.train.patience,
        model: str | os.PathLike[str] | None = None,
        save_model: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        missing: str = "error",
        random_state: int | np.random.RandomState | np.random.Generator | None = _C.flow.seed,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.estimator = estimator
        self.folds = folds
        self.repeats = repeats
        self.steps = steps
        self.transform = transform
        self.base = base
        self.blocks = blocks
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.held_out = held_out
        self.patience = patience
        self.model = model
        self.save_model = save_model
        self.checkpoint = checkpoint
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: None = None) -> EntropyModel:
        """Learn the table.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table: pandas, polars or anything with ``__arrow_c_stream__``, or numbers.
        y : None
            Not used; here for scikit-learn.

        Returns
        -------
        EntropyModel
            The estimator itself.
        """
        data = as_dataset(X, self.missing)
        params = _core.InformationParams()
        assign(params, {"estimator": self.estimator})
        assign(params.flow, {name: getattr(self, name) for name in ("folds", "repeats", "transform", "blocks")})
        assign(params.flow, {"seed": seed_of(self.random_state)})
        train = ("steps", "base", "batch", "learning_rate", "schedule", "held_out", "patience")
        assign(params.flow.train, {name: getattr(self, name) for name in train})
        assign_paths(params.files, model=self.model, save_model=self.save_model, checkpoint=self.checkpoint)
        with running(self.n_jobs, self.verbose) as run:
            self._fitted = _core.fit_entropies(data, params, run)
        warn(self._fitted.warnings)
        self.n_features_in_ = len(data.names)
        self.feature_names_in_ = np.array(data.names, dtype=object)
        return self

    def entropy(self, target: str) -> Estimate:
        """H(target) in nats, with its standard error.

        Parameters
        ----------
        target : str
            The variable.

        Returns
        -------
        Estimate
        """
        return self.conditional_entropy(target)

    def conditional_entropy(self, target: str, given: Sequence[str] | str = ()) -> Estimate:
        """H(target | given) in nats, with its standard error; minus infinity if they determine the target.

        Parameters
        ----------
        target : str
            The variable.
        given : sequence of str or str
            What is known.

        Returns
        -------
        Estimate
        """
        with running(self.n_jobs, False) as run:
            return Estimate(*self._model().conditional_entropy(target, _names(given), run))

    def mutual_information(self, target: str, about: Sequence[str] | str, given: Sequence[str] | str = ()) -> Estimate:
        """I(target; about | given) in nats: what ``about`` tells of the target that ``given`` does not.

        Its standard error is that of the row by row difference, far smaller than those of the two entropies.

        Parameters
        ----------
        target : str
            The variable.
        about : sequence of str or str
            What tells of it.
        given : sequence of str or str
            What is known already.

        Returns
        -------
        Estimate
        """
        with running(self.n_jobs, False) as run:
            return Estimate(*self._model().mutual_information(target, _names(about), _names(given), run))

    def information(self, target: str, given: Sequence[str] | str) -> Information:
        """H(target | given), and what each of the given tells beyond the others, as ``fansite entropy`` does.

        Parameters
        ----------
        target : str
            The variable.
        given : sequence of str or str
            What is known.

        Returns
        -------
        Information
        """
        with running(self.n_jobs, False) as run:
            return Information.from_json(self._model().information(target, _names(given), run))

    def _model(self) -> _core.FittedEntropies:
        fitted: _core.FittedEntropies = self._learned("_fitted")
        return fitted


def _names(names: Sequence[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(names)

# SPDX-License-Identifier: Apache-2.0
"""Entropies of any set of variables, from one fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from . import _core, _html
from ._exports import imported
from ._labels import as_array, name_of, names_of
from ._methods import method_named
from ._parameters import EntropyParameters
from ._result import Result, number
from ._running import running
from ._settings import Estimator, documented, method_options, run_options
from ._table import Roles, as_table, warn

DEFAULT = "flow"  # the estimator whose parameters are written out

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
        pd = imported("pandas", "pandas", "to_pandas")

        rows = [(each.name, float(each.information), each.information.se) for each in self.added]
        return pd.DataFrame(rows, columns=["name", "information", "se"])

    def _repr_html_(self) -> str:
        return _html.information(self)


def _estimate(read: dict[str, Any], value: str, se: str, null: float) -> Estimate:
    return Estimate(number(read[value], null), number(read[se], float("nan")))


@documented
class EntropyModel(EntropyParameters, Estimator):
    """Learn the joint distribution of a table once, then ask for entropies of any of its variables given any others.

    {parameters}

    Attributes
    ----------
    n_features_in_, feature_names_in_
        Number and names of the variables, as their data frame has them; x1, x2, ... if they came without.

    Examples
    --------
    >>> table = fansite.simulate(nodes=4, rows=400, random_state=3)
    >>> model = fansite.EntropyModel(estimator="gaussian").fit(table.values)
    >>> model.conditional_entropy("x1", given=["x2", "x3"])
    Estimate(1.60667, se=0.0355)
    >>> print(model.mutual_information("x1", "x2", given=["x3"]))
    0.3043 ± 0.0338
    """

    def fit(self, X: Any, y: None = None) -> EntropyModel:
        """Learn the table.

        Parameters
        ----------
        X : DataFrame, array-like of shape (n_samples, n_features) or path
            The table: pandas, polars, Arrow, an array, or a file (docs/tables.md says what becomes of its columns).
        y : None
            Not used; here for scikit-learn.

        Returns
        -------
        EntropyModel
            The estimator itself.
        """
        table = as_table(X, self.missing, Roles.of(self, X))
        method = method_named("entropy", self.estimator, "estimator")
        options = method_options(self, method, method_named("entropy", DEFAULT, "estimator"), self.options)
        with table.working(self.n_jobs, self.verbose) as run:
            self._fitted = _core.fit_entropies(table.data, method.name, options, run_options(self), run)
            warn(self._fitted.warnings)
        self._labels = table.labels
        self.n_features_in_ = len(table.data.names)
        self.feature_names_in_ = as_array([table.labels.get(name, name) for name in table.data.names])
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
            return Estimate(*self._fitted.conditional_entropy(name_of(target), self._names(given), run))

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
            return Estimate(
                *self._fitted.mutual_information(name_of(target), self._names(about), self._names(given), run)
            )

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
            text = self._fitted.information(name_of(target), self._names(given), run)
        return Information._of(text, self._labels)

    def _names(self, given: Sequence[str] | str) -> list[str]:
        return names_of(given, self._labels, "given")

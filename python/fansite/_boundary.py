# SPDX-License-Identifier: Apache-2.0
"""The Markov boundary of every variable of a table."""

from __future__ import annotations

from typing import Any

from . import _core
from ._boundaries_result import BoundariesResult
from ._finder import Finder
from ._knowledge import for_table
from ._labels import ByVariable, is_pandas, names_of
from ._methods import method_named
from ._parameters import BoundaryParameters
from ._settings import documented, method_options, run_options
from ._table import Roles, as_table, labelled

DEFAULT = "fansite"  # the method whose parameters are written out


@documented
class MarkovBoundary(BoundaryParameters, Finder[BoundariesResult]):
    """Find the Markov boundary of every variable of a table, as ``fansite mb`` does.

    The boundary of a variable is the smallest set of others that makes all the rest useless for predicting it: its
    parents, its children, and its children's other parents. Nothing has to be tuned.

    {parameters}

    Attributes
    ----------
    boundaries_ : dict of str to list of str
        For each target its boundary, in order of admission.
    gains_ : dict of str to dict of str to float
        For each target what each member adds to those before it, in nats.
    moral_graph_ : DataFrame or ndarray of shape (n_features, n_features)
        Symmetric, 1 for pairs with one in the other's boundary; a DataFrame if the table was one.
    result_ : BoundariesResult
        Everything: standard errors, p- and q-values, near misses, warnings.
    n_features_in_, feature_names_in_
        Number and names of the variables, as their data frame has them; x1, x2, ... if they came without.

    Examples
    --------
    >>> table = fansite.simulate(nodes=5, rows=500, random_state=1)
    >>> found = fansite.MarkovBoundary(fdr=0.01).fit(table.to_pandas())
    >>> found.boundaries_["x3"]
    ['x4', 'x1']
    >>> member = found.result_["x3"].members[0]
    >>> f"{member.name} tells {member.gain:.2f} ± {member.se:.2f} nats"
    'x4 tells 0.95 ± 0.04 nats'
    """

    def fit(self, X: Any, y: None = None) -> MarkovBoundary:
        """Find the boundaries.

        Parameters
        ----------
        X : DataFrame, array-like of shape (n_samples, n_features) or path
            The table: pandas, polars, Arrow, an array, or a file (docs/tables.md says what becomes of its columns).
        y : None
            Not used; here for scikit-learn.

        Returns
        -------
        MarkovBoundary
            The estimator itself.
        """
        table = as_table(X, self.missing, Roles.of(self, X))
        method = method_named("boundary", self.method, "method")
        options = method_options(self, method, method_named("boundary", DEFAULT, "method"), self.options)
        targets = names_of(self.targets, table.labels, "targets")
        with table.working(self.n_jobs, self.verbose) as run:
            known = for_table(self.knowledge, table.data.names)
            text = _core.markov_boundaries(table.data, known, method.name, options, targets, run_options(self), run)
            result = BoundariesResult._of(text, table.labels)
        self._keep(result)
        self.boundaries_ = ByVariable({target: boundary.names for target, boundary in result.boundaries.items()})
        self.gains_ = ByVariable(
            {
                target: {member.name: member.gain for member in boundary.members}
                for target, boundary in result.boundaries.items()
            }
        )
        self.moral_graph_ = labelled(result.moral_graph(), result.variables, is_pandas(X))
        return self

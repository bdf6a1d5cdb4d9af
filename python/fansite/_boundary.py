# SPDX-License-Identifier: Apache-2.0
"""The Markov boundary of every variable of a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._boundaries_result import BoundariesResult
from ._finder import Finder
from ._knowledge import Knowledge, for_table
from ._running import running
from ._settings import assign, assign_paths, seed_of
from ._table import as_dataset, is_pandas, labelled

_C = _core.BoundariesParams()  # the defaults are C++'s


class MarkovBoundary(Finder[BoundariesResult]):
    """Find the Markov boundary of every variable of a table, as ``fansite mb`` does.

    The boundary of a variable is the smallest set of others that makes all the rest useless for predicting it: its
    parents, its children, and its children's other parents. Nothing has to be tuned.

    Parameters
    ----------
    targets : sequence of str, str or None
        Variables to find the boundary of; None: every one.
    estimator : {'auto', 'gaussian', 'flow'}
        Of the entropies: closed form for linear relations, an ensemble of flows for any, or by a test of the data.
    effort : {'quick', 'normal', 'thorough'}
        Flow: how much work it is worth.
    stop : {'calibrated', 'paper'}
        How the size of a boundary is decided: by the data and ``fdr``, or by ``eps_grow`` and ``eps_shrink``.
    fdr : float
        Calibrated: the share of false members to accept, over the table.
    eps_grow, eps_shrink : float
        Paper: a gain up to the one, in nats, is a miss; a member whose removal costs up to the other goes.
    patience : int
        Growing stops after more than this many misses in a row; -1: the rule's own.
    max_size : int
        Growing stops at this many members; 0: as many as the rows allow.
    rule : {'or', 'and', 'none'}
        Symmetry: one of the two searches may propose a pair, both must, or each stands alone.
    refine : {'auto', 'graph', 'none'}
        Whether a causal graph has the last word; auto: for flows, if noise adds, which is tested.
    knowledge : Knowledge, path or None
        What is known beforehand; the boundaries satisfy it.
    repeats, folds, steps : int
        Flow: divisions of the rows, parts of each, and training steps of each network; 0: by effort.
    model, save_model, checkpoint : path or None
        Flow: a trained model to use, where to keep the trained one, and where the run keeps its state, from which
        the same call goes on if it was interrupted.
    time_budget : float
        Seconds after which the best answer so far is wanted, marked as such; 0: as long as it takes.
    missing : {'error', 'drop'}
        What to do with rows that have missing cells.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        The seed of every random choice; None: another one each time, which the result keeps.
    n_jobs : int or None
        Threads; None: one per core. The answer is the same for any number.
    verbose : bool
        Show progress, with tqdm if it is installed.

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
        Number and names of the variables; x1, x2, ... if they came without.

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

    def __init__(
        self,
        *,
        targets: Sequence[str] | str | None = None,
        estimator: str = _C.estimator,
        effort: str = _C.effort,
        stop: str = _C.search.stop,
        fdr: float = _C.search.fdr,
        eps_grow: float = _C.search.eps_grow,
        eps_shrink: float = _C.search.eps_shrink,
        patience: int = _C.search.patience,
        max_size: int = _C.search.max_size,
        rule: str = _C.search.rule,
        refine: str = _C.refine,
        knowledge: Knowledge | str | os.PathLike[str] | None = None,
        repeats: int = _C.repeats,
        folds: int = _C.folds,
        steps: int = _C.steps,
        model: str | os.PathLike[str] | None = None,
        save_model: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        time_budget: float = _C.time_budget,
        missing: str = "error",
        random_state: int | np.random.RandomState | np.random.Generator | None = _C.seed,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.targets = targets
        self.estimator = estimator
        self.effort = effort
        self.stop = stop
        self.fdr = fdr
        self.eps_grow = eps_grow
        self.eps_shrink = eps_shrink
        self.patience = patience
        self.max_size = max_size
        self.rule = rule
        self.refine = refine
        self.knowledge = knowledge
        self.repeats = repeats
        self.folds = folds
        self.steps = steps
        self.model = model
        self.save_model = save_model
        self.checkpoint = checkpoint
        self.time_budget = time_budget
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: None = None) -> MarkovBoundary:
        """Find the boundaries.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table: pandas, polars or anything with ``__arrow_c_stream__``, or numbers.
        y : None
            Not used; here for scikit-learn.

        Returns
        -------
        MarkovBoundary
            The estimator itself.
        """
        data = as_dataset(X, self.missing)
        params = boundaries_params(self)
        targets = [self.targets] if isinstance(self.targets, str) else self.targets
        assign(params, {"targets": list(targets or ()), "refine": self.refine, "time_budget": self.time_budget})
        assign(params.search, {"rule": self.rule})
        assign_paths(params.files, model=self.model, save_model=self.save_model, checkpoint=self.checkpoint)
        with running(self.n_jobs, self.verbose) as run:
            text = _core.markov_boundaries(data, for_table(self.knowledge, data.names), params, run)
        result = BoundariesResult.from_json(text)
        self._keep(result)
        self.boundaries_ = {target: boundary.names for target, boundary in result.boundaries.items()}
        self.gains_ = {
            target: {member.name: member.gain for member in boundary.members}
            for target, boundary in result.boundaries.items()
        }
        self.moral_graph_ = labelled(result.moral_graph(), result.variables, is_pandas(X))
        return self


_SEARCH = ("stop", "fdr", "eps_grow", "eps_shrink", "patience", "max_size")
_WHOLE = ("estimator", "effort", "repeats", "folds", "steps")


def boundaries_params(settings: Any) -> _core.BoundariesParams:
    """The settings that MarkovBoundary and BoundarySelector share."""
    params = _core.BoundariesParams()
    assign(params.search, {name: getattr(settings, name) for name in _SEARCH})
    assign(params, {name: getattr(settings, name) for name in _WHOLE})
    assign(params, {"seed": seed_of(settings.random_state)})
    return params

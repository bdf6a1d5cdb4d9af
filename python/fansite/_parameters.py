# SPDX-License-Identifier: Apache-2.0
"""Constructors with the parameters that C++ describes. Written by python/tools/signatures.py; do not edit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._knowledge import Knowledge


class BoundaryParameters:
    """Parameters
    ----------
    targets : sequence of str, str or None
        Variables to find the boundary of; None: every one.
    method : str
        See ``fansite.methods``; parameters of other methods than the default go into ``options``.
    estimator : {'auto', 'gaussian', 'flow', 'naf', 'bnaf', 'ace'}
        Of the entropies: gaussian (linear relations), flow (any), or auto (by a test of the data).
    effort : {'quick', 'normal', 'thorough'}
        Of training, searching and refining with networks: quick (a first look), normal or thorough.
    stop : {'calibrated', 'paper'}
        Calibrated (by the data and the FDR level) or paper (by the two eps thresholds).
    fdr : float
        Calibrated: the share of false members to accept, over the table.
    eps_grow : float
        Paper: a gain up to this many nats is a miss.
    eps_shrink : float
        Paper: a member worth up to this many nats goes.
    patience : int
        Misses in a row before growing stops; -1: 15, or 6 for calibrated flows, 1 if quick.
    max_size : int
        Largest set while growing; 0: what the rows allow.
    test_rows : int
        Flows: rows that a pair is tested on; 0: all, 5000 if quick.
    rule : {'or', 'and', 'none'}
        Symmetry: or (one search may propose), and (both must), none.
    refine : {'auto', 'graph', 'none'}
        Graph (boundaries as a causal graph sees them), none, or auto (networks: if noise adds).
    repeats : int
        Networks for each part of the rows; 0: by effort.
    folds : int
        Each network leaves one of so many parts of the rows out; 0: by effort.
    steps : int
        Training steps of each network; 0: by effort.
    block : str
        Rows in a row that may depend on each other: auto (as the table shows), none, or how many.
    options : dict or None
        Further parameters of the method, by name.
    knowledge : Knowledge, path or None
        What is known beforehand; the answer satisfies it.
    model : path or None
        Use these trained networks instead of training some.
    save_model : path or None
        Keep the trained networks in this file.
    checkpoint : path or None
        Keep the run's state in this file, and go on from what it holds.
    time_budget : float
        Seconds after which the best answer so far is wanted, marked as such; 0: as long as it takes.
    missing : {'use', 'drop', 'error'}
        Missing cells: use the rows as far as they go, drop the rows, or an error.
    kinds : dict or None
        What columns are, by name: 'continuous', 'ordered', 'atoms' or 'nominal'; others by their types and
        values.
    context : sequence of str, str or None
        Columns that are conditioned on everywhere, such as batch or site; never targets or members.
    weight : str, array-like or None
        The column of the rows' weights, or one positive number a row; only ratios matter.
    group : str, array-like or None
        A column, or one value a row: rows that share it are not independent, as visits of one patient.
    drop : sequence of str, str or None
        Columns that are left out, whatever they hold.
    only : sequence of str, str or None
        Columns that stay; all others are left out, but for those of ``context``, ``weight`` and ``group``.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        The seed of every random choice; None: another one each time, which the result keeps.
    device : {'auto', 'cpu', 'cuda'}
        What networks are trained and asked on: auto takes a GPU if there is one that CUDA can use; a GPU's last
        bits are not the processor's.
    n_jobs : int or None
        Threads; None: one per core. The answer is the same.
    verbose : bool
        Show progress, with tqdm if it is installed.
    """

    def __init__(
        self,
        *,
        targets: Sequence[str] | str | None = None,
        method: str = "fansite",
        estimator: str = "auto",
        effort: str = "normal",
        stop: str = "calibrated",
        fdr: float = 0.05,
        eps_grow: float = 0.005,
        eps_shrink: float = 0.002,
        patience: int = -1,
        max_size: int = 0,
        test_rows: int = 0,
        rule: str = "or",
        refine: str = "auto",
        repeats: int = 0,
        folds: int = 0,
        steps: int = 0,
        block: str = "auto",
        options: Mapping[str, Any] | None = None,
        knowledge: Knowledge | str | os.PathLike[str] | None = None,
        model: str | os.PathLike[str] | None = None,
        save_model: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        time_budget: float = 0.0,
        missing: str = "use",
        kinds: Mapping[str, str] | None = None,
        context: Sequence[str] | str | None = None,
        weight: Any = None,
        group: Any = None,
        drop: Sequence[str] | str | None = None,
        only: Sequence[str] | str | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        device: str = "cpu",
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.targets = targets
        self.method = method
        self.estimator = estimator
        self.effort = effort
        self.stop = stop
        self.fdr = fdr
        self.eps_grow = eps_grow
        self.eps_shrink = eps_shrink
        self.patience = patience
        self.max_size = max_size
        self.test_rows = test_rows
        self.rule = rule
        self.refine = refine
        self.repeats = repeats
        self.folds = folds
        self.steps = steps
        self.block = block
        self.options = options
        self.knowledge = knowledge
        self.model = model
        self.save_model = save_model
        self.checkpoint = checkpoint
        self.time_budget = time_budget
        self.missing = missing
        self.kinds = kinds
        self.context = context
        self.weight = weight
        self.group = group
        self.drop = drop
        self.only = only
        self.random_state = random_state
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose


class SelectorParameters:
    """Parameters
    ----------
    method : str
        See ``fansite.methods``; parameters of other methods than the default go into ``options``.
    estimator : {'auto', 'gaussian', 'flow', 'naf', 'bnaf', 'ace'}
        Of the entropies: gaussian (linear relations), flow (any), or auto (by a test of the data).
    effort : {'quick', 'normal', 'thorough'}
        Of training, searching and refining with networks: quick (a first look), normal or thorough.
    stop : {'calibrated', 'paper'}
        Calibrated (by the data and the FDR level) or paper (by the two eps thresholds).
    fdr : float
        Calibrated: the share of false members to accept, over the table.
    eps_grow : float
        Paper: a gain up to this many nats is a miss.
    eps_shrink : float
        Paper: a member worth up to this many nats goes.
    patience : int
        Misses in a row before growing stops; -1: 15, or 6 for calibrated flows, 1 if quick.
    max_size : int
        Largest set while growing; 0: what the rows allow.
    test_rows : int
        Flows: rows that a pair is tested on; 0: all, 5000 if quick.
    repeats : int
        Networks for each part of the rows; 0: by effort.
    folds : int
        Each network leaves one of so many parts of the rows out; 0: by effort.
    steps : int
        Training steps of each network; 0: by effort.
    block : str
        Rows in a row that may depend on each other: auto (as the table shows), none, or how many.
    options : dict or None
        Further parameters of the method, by name.
    kinds : dict or None
        What columns are, by name: 'continuous', 'ordered', 'atoms' or 'nominal'; others by their types and
        values.
    drop : sequence of str, str or None
        Features that are not searched, whatever they hold, and so never selected.
    only : sequence of str, str or None
        Features that are searched; no other is selected.
    y_kind : {'auto', 'continuous', 'ordered', 'atoms', 'nominal'}
        What ``y`` is; 'auto': text and categories are classes ('nominal'), numbers are what their values show,
        so say 'nominal' for classes that are numbers.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        The seed of every random choice; None: another one each time, which the result keeps.
    device : {'auto', 'cpu', 'cuda'}
        What networks are trained and asked on: auto takes a GPU if there is one that CUDA can use; a GPU's last
        bits are not the processor's.
    n_jobs : int or None
        Threads; None: one per core. The answer is the same.
    verbose : bool
        Show progress, with tqdm if it is installed.
    """

    def __init__(
        self,
        *,
        method: str = "fansite",
        estimator: str = "auto",
        effort: str = "normal",
        stop: str = "calibrated",
        fdr: float = 0.05,
        eps_grow: float = 0.005,
        eps_shrink: float = 0.002,
        patience: int = -1,
        max_size: int = 0,
        test_rows: int = 0,
        repeats: int = 0,
        folds: int = 0,
        steps: int = 0,
        block: str = "auto",
        options: Mapping[str, Any] | None = None,
        kinds: Mapping[str, str] | None = None,
        drop: Sequence[str] | str | None = None,
        only: Sequence[str] | str | None = None,
        y_kind: str = "auto",
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        device: str = "cpu",
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.method = method
        self.estimator = estimator
        self.effort = effort
        self.stop = stop
        self.fdr = fdr
        self.eps_grow = eps_grow
        self.eps_shrink = eps_shrink
        self.patience = patience
        self.max_size = max_size
        self.test_rows = test_rows
        self.repeats = repeats
        self.folds = folds
        self.steps = steps
        self.block = block
        self.options = options
        self.kinds = kinds
        self.drop = drop
        self.only = only
        self.y_kind = y_kind
        self.random_state = random_state
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose


class GraphParameters:
    """Parameters
    ----------
    method : str
        See ``fansite.methods``; parameters of other methods than the default go into ``options``.
    dag : bool
        A direction for every edge, decided by the data or not.
    graph_block : str
        Rows that may depend on each other count as one: auto (as they show), none, or so many in a row.
    equations : {'auto', 'kernels', 'linear'}
        Of the parents: kernels, linear (Gaussian, in closed form), or auto (by a test).
    noise : {'any', 'gaussian'}
        The distribution of the noise: any, or gaussian.
    scale : {'auto', 'original', 'normal-scores'}
        Where noise adds: original, normal-scores of the columns, or auto (by a test).
    penalty : float
        What an edge must be worth, in units of ln N / 2N nats.
    confidence : float
        Standard errors by which the other direction must be worse.
    max_parents : int
        At most so many parents of a variable.
    max_rows : int
        Rows used, drawn at random; 0: all of them.
    draws : int
        Tables with the missing cells drawn; scores are means over them.
    landmarks : int
        Rows at which kernels are evaluated.
    landmarks_per_parent : int
        And so many more for each parent.
    max_landmarks : int
        At most so many in all.
    widths : sequence of float or None
        Of the kernels, in standard deviations; the best is chosen; None: 0.5, 1.0, 2.0.
    ridges : sequence of float or None
        Noise over signal variance of the regressions; the best is chosen; None: 0.1, 0.3, 1.0, 3.0.
    options : dict or None
        Further parameters of the method, by name.
    boundary_method : str
        See ``fansite.methods``; parameters of other methods than the default go into ``boundary_options``.
    estimator : {'auto', 'gaussian', 'flow', 'naf', 'bnaf', 'ace'}
        Of the entropies: gaussian (linear relations), flow (any), or auto (by a test of the data).
    effort : {'quick', 'normal', 'thorough'}
        Of training, searching and refining with networks: quick (a first look), normal or thorough.
    stop : {'calibrated', 'paper'}
        Calibrated (by the data and the FDR level) or paper (by the two eps thresholds).
    fdr : float
        Calibrated: the share of false members to accept, over the table.
    eps_grow : float
        Paper: a gain up to this many nats is a miss.
    eps_shrink : float
        Paper: a member worth up to this many nats goes.
    patience : int
        Misses in a row before growing stops; -1: 15, or 6 for calibrated flows, 1 if quick.
    max_size : int
        Largest set while growing; 0: what the rows allow.
    test_rows : int
        Flows: rows that a pair is tested on; 0: all, 5000 if quick.
    rule : {'or', 'and', 'none'}
        Symmetry: or (one search may propose), and (both must), none.
    repeats : int
        Networks for each part of the rows; 0: by effort.
    folds : int
        Each network leaves one of so many parts of the rows out; 0: by effort.
    steps : int
        Training steps of each network; 0: by effort.
    block : str
        Rows in a row that may depend on each other: auto (as the table shows), none, or how many.
    boundary_options : dict or None
        Further parameters of the boundary method, by name.
    knowledge : Knowledge, path or None
        What is known beforehand; the answer satisfies it.
    model : path or None
        Use these trained networks instead of training some.
    save_model : path or None
        Keep the trained networks in this file.
    checkpoint : path or None
        Keep the run's state in this file, and go on from what it holds.
    time_budget : float
        Seconds after which the best answer so far is wanted, marked as such; 0: as long as it takes.
    missing : {'use', 'drop', 'error'}
        Missing cells: use the rows as far as they go, drop the rows, or an error.
    kinds : dict or None
        What columns are, by name: 'continuous', 'ordered', 'atoms' or 'nominal'; others by their types and
        values.
    context : sequence of str, str or None
        Columns that are conditioned on everywhere, such as batch or site; never targets or members.
    weight : str, array-like or None
        The column of the rows' weights, or one positive number a row; only ratios matter.
    group : str, array-like or None
        A column, or one value a row: rows that share it are not independent, as visits of one patient.
    drop : sequence of str, str or None
        Columns that are left out, whatever they hold.
    only : sequence of str, str or None
        Columns that stay; all others are left out, but for those of ``context``, ``weight`` and ``group``.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        The seed of every random choice; None: another one each time, which the result keeps.
    device : {'auto', 'cpu', 'cuda'}
        What networks are trained and asked on: auto takes a GPU if there is one that CUDA can use; a GPU's last
        bits are not the processor's.
    n_jobs : int or None
        Threads; None: one per core. The answer is the same.
    verbose : bool
        Show progress, with tqdm if it is installed.
    """

    def __init__(
        self,
        *,
        method: str = "fansite-anm",
        dag: bool = False,
        graph_block: str = "auto",
        equations: str = "auto",
        noise: str = "any",
        scale: str = "auto",
        penalty: float = 1.0,
        confidence: float = 2.5,
        max_parents: int = 10,
        max_rows: int = 5000,
        draws: int = 5,
        landmarks: int = 50,
        landmarks_per_parent: int = 50,
        max_landmarks: int = 300,
        widths: Sequence[float] | None = None,
        ridges: Sequence[float] | None = None,
        options: Mapping[str, Any] | None = None,
        boundary_method: str = "fansite",
        estimator: str = "auto",
        effort: str = "normal",
        stop: str = "calibrated",
        fdr: float = 0.05,
        eps_grow: float = 0.005,
        eps_shrink: float = 0.002,
        patience: int = -1,
        max_size: int = 0,
        test_rows: int = 0,
        rule: str = "or",
        repeats: int = 0,
        folds: int = 0,
        steps: int = 0,
        block: str = "auto",
        boundary_options: Mapping[str, Any] | None = None,
        knowledge: Knowledge | str | os.PathLike[str] | None = None,
        model: str | os.PathLike[str] | None = None,
        save_model: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        time_budget: float = 0.0,
        missing: str = "use",
        kinds: Mapping[str, str] | None = None,
        context: Sequence[str] | str | None = None,
        weight: Any = None,
        group: Any = None,
        drop: Sequence[str] | str | None = None,
        only: Sequence[str] | str | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        device: str = "cpu",
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.method = method
        self.dag = dag
        self.graph_block = graph_block
        self.equations = equations
        self.noise = noise
        self.scale = scale
        self.penalty = penalty
        self.confidence = confidence
        self.max_parents = max_parents
        self.max_rows = max_rows
        self.draws = draws
        self.landmarks = landmarks
        self.landmarks_per_parent = landmarks_per_parent
        self.max_landmarks = max_landmarks
        self.widths = widths
        self.ridges = ridges
        self.options = options
        self.boundary_method = boundary_method
        self.estimator = estimator
        self.effort = effort
        self.stop = stop
        self.fdr = fdr
        self.eps_grow = eps_grow
        self.eps_shrink = eps_shrink
        self.patience = patience
        self.max_size = max_size
        self.test_rows = test_rows
        self.rule = rule
        self.repeats = repeats
        self.folds = folds
        self.steps = steps
        self.block = block
        self.boundary_options = boundary_options
        self.knowledge = knowledge
        self.model = model
        self.save_model = save_model
        self.checkpoint = checkpoint
        self.time_budget = time_budget
        self.missing = missing
        self.kinds = kinds
        self.context = context
        self.weight = weight
        self.group = group
        self.drop = drop
        self.only = only
        self.random_state = random_state
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose


class EntropyParameters:
    """Parameters
    ----------
    estimator : str
        See ``fansite.methods``; parameters of other methods than the default go into ``options``.
    folds : int
        Each network leaves one of so many parts of the rows out.
    repeats : int
        Networks for each part of the rows, each with a column order of its own.
    transform : {'rank', 'standardise', 'none'}
        Of each column: rank (normal scores), standardise or none.
    linear : bool
        Let a linear model of normal scores count too, as held-out rows say.
    pilot : bool
        Try base and noise on some of the rows first, and take what suits those left out.
    blocks : int
        Hidden nodes of each rank; 0: 6, more for few variables.
    base : {'gaussian', 'none'}
        Gaussian (the flow learns what is left over) or none (as the paper).
    steps : int
        Training steps of each network, at most.
    batch : int
        Rows a step; 0: 64, or 256 from 100 variables on.
    subset_size : int
        Of the subsets drawn, at most; 0: the paper's for the width.
    subsets : {'leaf', 'non_leaf'}
        Which subsets are drawn: leaf (as the paper) or non_leaf.
    learning_rate : float
        Of the first step.
    schedule : {'cosine', 'constant'}
        Of the learning rate: cosine or constant.
    clip : float
        Of the gradient's norm; inf: none.
    noise : float
        Added to the numbers of a row each time it is drawn, on the scale of normal scores.
    held_out : float
        Share of a network's rows that choose its best step.
    patience : int
        Stop after so many evaluations without improvement; 0: take all steps.
    evaluate_every : int
        Steps from one evaluation to the next.
    options : dict or None
        Further parameters of the estimator, by name.
    model : path or None
        Use these trained networks instead of training some.
    save_model : path or None
        Keep the trained networks in this file.
    checkpoint : path or None
        Keep the run's state in this file, and go on from what it holds.
    missing : {'use', 'drop', 'error'}
        Missing cells: use the rows as far as they go, drop the rows, or an error.
    kinds : dict or None
        What columns are, by name: 'continuous', 'ordered', 'atoms' or 'nominal'; others by their types and
        values.
    context : sequence of str, str or None
        Columns that are conditioned on everywhere, such as batch or site; never targets or members.
    weight : str, array-like or None
        The column of the rows' weights, or one positive number a row; only ratios matter.
    group : str, array-like or None
        A column, or one value a row: rows that share it are not independent, as visits of one patient.
    drop : sequence of str, str or None
        Columns that are left out, whatever they hold.
    only : sequence of str, str or None
        Columns that stay; all others are left out, but for those of ``context``, ``weight`` and ``group``.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        The seed of every random choice; None: another one each time, which the result keeps.
    device : {'auto', 'cpu', 'cuda'}
        What networks are trained and asked on: auto takes a GPU if there is one that CUDA can use; a GPU's last
        bits are not the processor's.
    n_jobs : int or None
        Threads; None: one per core. The answer is the same.
    verbose : bool
        Show progress, with tqdm if it is installed.
    """

    def __init__(
        self,
        *,
        estimator: str = "flow",
        folds: int = 5,
        repeats: int = 2,
        transform: str = "rank",
        linear: bool = True,
        pilot: bool = False,
        blocks: int = 0,
        base: str = "gaussian",
        steps: int = 6000,
        batch: int = 0,
        subset_size: int = 0,
        subsets: str = "leaf",
        learning_rate: float = 0.002,
        schedule: str = "cosine",
        clip: float = 5.0,
        noise: float = 0.0,
        held_out: float = 0.1,
        patience: int = 0,
        evaluate_every: int = 250,
        options: Mapping[str, Any] | None = None,
        model: str | os.PathLike[str] | None = None,
        save_model: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        missing: str = "use",
        kinds: Mapping[str, str] | None = None,
        context: Sequence[str] | str | None = None,
        weight: Any = None,
        group: Any = None,
        drop: Sequence[str] | str | None = None,
        only: Sequence[str] | str | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        device: str = "cpu",
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.estimator = estimator
        self.folds = folds
        self.repeats = repeats
        self.transform = transform
        self.linear = linear
        self.pilot = pilot
        self.blocks = blocks
        self.base = base
        self.steps = steps
        self.batch = batch
        self.subset_size = subset_size
        self.subsets = subsets
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.clip = clip
        self.noise = noise
        self.held_out = held_out
        self.patience = patience
        self.evaluate_every = evaluate_every
        self.options = options
        self.model = model
        self.save_model = save_model
        self.checkpoint = checkpoint
        self.missing = missing
        self.kinds = kinds
        self.context = context
        self.weight = weight
        self.group = group
        self.drop = drop
        self.only = only
        self.random_state = random_state
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

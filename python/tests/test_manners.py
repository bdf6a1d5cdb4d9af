# SPDX-License-Identifier: Apache-2.0
"""How long work behaves: it frees the GIL, stops at Ctrl-C, tells its progress, survives pickling and forking."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
import sklearn.base
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted
from support import PATIENCE

import fansite

# A day of work, were it not stopped.
ENDLESS = {
    "flow": "fansite.MarkovBoundary(estimator='flow', steps=10**7).fit(table)",
    "entropy": "fansite.EntropyModel(steps=10**7).fit(table)",
    "graph": "fansite.CausalGraph(method='sdcd', options={'epochs': 10**7}).fit(large)",
    "simulate": "fansite.simulate(nodes=500, degree=3, sem='gp', rows=4000)",
}


@pytest.mark.parametrize("work", ENDLESS)
def test_ctrl_c_stops_within_a_second(work) -> None:
    code = f"""
import os, signal, threading, time
import fansite
table = fansite.simulate(nodes=10, rows=1000, sem="mlp").values
large = fansite.simulate(nodes=40, degree=3, rows=20000, sem="mlp").values
def interrupt():
    time.sleep(0.7)
    global sent
    sent = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)
try:
    threading.Thread(target=interrupt).start()
    {ENDLESS[work]}
except KeyboardInterrupt:
    print(time.process_time() - sent)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert run.stdout, f"not interrupted: {run.stderr}"
    # A second of all processors, by what was computed: others on the machine do not count.
    assert float(run.stdout) < len(os.sched_getaffinity(0))


def test_what_a_signal_handler_raises_arrives() -> None:
    code = """
import signal, fansite
class Tired(Exception): pass
def handler(number, frame): raise Tired
signal.signal(signal.SIGALRM, handler)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    fansite.EntropyModel(steps=10**7).fit(fansite.simulate(nodes=10).values)
except Tired:
    print("arrived")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert run.stdout == "arrived\n", run.stderr


def test_other_threads_run_meanwhile(curved) -> None:
    model = fansite.EntropyModel(folds=2, repeats=2, steps=15000)
    work = threading.Thread(target=model.fit, args=(curved.values,))
    work.start()
    turns = 0
    while work.is_alive():
        time.sleep(0.005)
        turns += 1
    work.join()
    assert turns > 5  # with the GIL kept it would be 1


def test_threads_fit_at_the_same_time(linear, boundaries) -> None:
    models = [fansite.MarkovBoundary() for _ in range(4)]
    threads = [threading.Thread(target=model.fit, args=(linear.to_pandas(),)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(model.result_ == boundaries.result_ for model in models)


def test_progress_goes_to_tqdm(curved, monkeypatch, capsys) -> None:
    import tqdm.auto

    stages: dict[str, int] = {}

    class Recorder:
        def __init__(self, desc: str, total: int, leave: bool) -> None:
            self.stage = desc
            stages[desc] = 0

        def update(self, steps: int) -> None:
            assert steps >= 0
            stages[self.stage] += steps

        def close(self) -> None:
            pass

    monkeypatch.setattr(tqdm.auto, "tqdm", Recorder)
    fansite.EntropyModel(folds=2, repeats=2, steps=1500, verbose=True).fit(curved.values)
    assert max(stages.values()) > 0
    stages.clear()
    fansite.EntropyModel(folds=2, repeats=2, steps=1500).fit(curved.values)
    assert stages == {}
    assert capsys.readouterr() == ("", "")


def test_progress_without_tqdm(curved, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    fansite.EntropyModel(folds=2, repeats=2, steps=1500, verbose=True).fit(curved.values)
    assert capsys.readouterr().err.startswith("fansite: ")


def test_an_error_in_progress_reaches_the_caller(curved, monkeypatch) -> None:
    from fansite import _running

    def broken(self, stage, done, total) -> None:
        raise LookupError("the bar is broken")

    monkeypatch.setattr(_running._Bar, "__call__", broken)
    with pytest.raises(LookupError, match="the bar is broken"):
        fansite.EntropyModel(steps=10**7, verbose=True).fit(curved.values)


def test_estimators_pickle_copy_and_clone(boundaries, graph, tmp_path) -> None:
    for fitted in (boundaries, graph):
        assert pickle.loads(pickle.dumps(fitted)).result_ == fitted.result_
        assert copy.deepcopy(fitted).result_ == fitted.result_
        joblib.dump(fitted, tmp_path / "fitted")
        assert joblib.load(tmp_path / "fitted").to_json() == fitted.to_json()
        unfitted = sklearn.base.clone(fitted)
        assert unfitted.get_params() == fitted.get_params()
        assert not hasattr(unfitted, "result_")


@pytest.mark.parametrize("kind", [fansite.MarkovBoundary, fansite.CausalGraph, fansite.EntropyModel])
def test_scikit_learn_can_ask_what_they_are(kind, linear) -> None:
    estimator = kind(estimator="gaussian")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        check_is_fitted(estimator)
    pipeline = make_pipeline(StandardScaler(), estimator)
    assert kind.__name__ in pipeline._repr_html_()
    pipeline.fit(linear.values)
    check_is_fitted(estimator)
    check_is_fitted(pipeline)
    assert kind.__name__ in pipeline._repr_html_()
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.allow_nan and tags.input_tags.string and tags.input_tags.categorical
    assert not tags.target_tags.required


def _fit_in_child(values: np.ndarray) -> str:
    return repr(fansite.MarkovBoundary().fit(values).boundaries_)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12 warns of fork in itself
def test_forked_processes_work(linear) -> None:
    here = _fit_in_child(linear.values)  # threads are up before the fork
    with multiprocessing.get_context("fork").Pool(2) as pool:
        there = pool.map_async(_fit_in_child, [linear.values] * 4).get(timeout=PATIENCE)
    assert there == [here] * 4
    assert _fit_in_child(linear.values) == here  # and after it


def test_too_little_memory_is_a_memory_error() -> None:
    with pytest.raises(MemoryError):
        fansite.simulate(nodes=3, rows=10**15)


def test_what_the_system_refuses_is_an_os_error(curved) -> None:
    with pytest.raises(OSError):
        fansite.EntropyModel(steps=10, folds=2, repeats=1, save_model="/dev/full").fit(curved.values)

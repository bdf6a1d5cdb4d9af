# SPDX-License-Identifier: Apache-2.0
"""How long work runs: on how many threads, and with what shown of its progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import _core


@contextmanager
def running(n_jobs: int | None, verbose: int | bool) -> Iterator[_core.Running]:
    """What the C++ functions want to know; a progress bar is closed at the end, whatever happens."""
    bar = _Bar() if verbose else None
    try:
        yield _core.Running(_threads(n_jobs), bar)
    finally:
        if bar is not None:
            bar.close()


def _threads(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 0
    if not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise ValueError(f"n_jobs = {n_jobs!r} is no number of threads; give 1 or more, or None for one per core.")
    count = n_jobs.__index__()
    return count if count > 0 else max(1, (os.cpu_count() or 1) + 1 + count)


class _Bar:
    """One tqdm bar for each stage; without tqdm, a line."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""
        self._done = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage or done < self._done:
            self.close()
            self._stage = stage
            if self._tqdm is None:
                print(f"fansite: {stage} ...", file=sys.stderr)
            else:
                self._bar = self._tqdm(desc=stage, total=total, leave=False)
            self._done = 0
        if self._bar is not None:
            self._bar.update(done - self._done)
        self._done = done

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None

# SPDX-License-Identifier: Apache-2.0
"""What the tests share: small tables, and the program that was installed with the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest
from support import PATIENCE

import fansite

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def linear() -> fansite.Simulation:
    """A linear network of 12 variables."""
    return fansite.simulate(nodes=12, degree=1.5, rows=600, random_state=7)


@pytest.fixture(scope="session")
def small() -> fansite.Simulation:
    """Five variables with normal noise, some of whose directions cannot be known."""
    return fansite.simulate(nodes=5, rows=250, random_state=1)


@pytest.fixture(scope="session")
def curved() -> fansite.Simulation:
    """Five variables with relations that are not linear."""
    return fansite.simulate(nodes=5, degree=1, sem="gp", rows=300, random_state=3)


@pytest.fixture(scope="session")
def boundaries(linear: fansite.Simulation) -> fansite.MarkovBoundary:
    return fansite.MarkovBoundary().fit(linear.to_pandas())


@pytest.fixture(scope="session")
def graph(small: fansite.Simulation) -> fansite.CausalGraph:
    return fansite.CausalGraph().fit(small.to_pandas())


class Program:
    """The command line, as installed beside this Python."""

    path = Path(sys.executable).parent / "fansite"

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(self.path), *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)

    def result(self, *arguments: object) -> str:
        run = self(*arguments, "--quiet")
        assert run.returncode == 0, run.stderr
        return run.stdout


@pytest.fixture(scope="session")
def program() -> Program:
    return Program()

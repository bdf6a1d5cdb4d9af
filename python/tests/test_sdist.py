# SPDX-License-Identifier: Apache-2.0
"""The source distribution that `make sdist` puts in dist/. `make test-sdist` builds a wheel of it."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

DIST = os.environ.get("FANSITE_DIST", "")
pytestmark = pytest.mark.skipif(not DIST, reason="FANSITE_DIST is not set; make test fills dist/ and sets it")
REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sources() -> Path:
    (only,) = Path(DIST).glob("fansite-*.tar.gz")
    return only


def files_of_git(*kind: str) -> set[str]:
    words = ["git", "-c", "safe.directory=*", "-C", str(REPOSITORY), "ls-files", *kind]
    listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name for name in listed if (REPOSITORY / name).is_file() and not name.startswith(".ci/")}


def test_all_is_there_and_nothing_that_was_built(sources) -> None:
    names = {name.split("/", 1)[1] for name in tarfile.open(sources).getnames()}
    assert files_of_git("--cached") - names == set()
    assert names - files_of_git("--cached", "--others", "--exclude-standard") == {"PKG-INFO"}


def test_configures_in_an_empty_folder(sources, tmp_path) -> None:
    """With all parts that a clone has."""
    subprocess.run(["tar", "-xzf", sources.resolve(), "-C", tmp_path], check=True)
    (unpacked,) = tmp_path.iterdir()
    configure = ["cmake", "-S", unpacked, "-B", tmp_path / "build", "-DFANSITE_CUDA_BUILD=OFF"]
    run = subprocess.run(configure, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr

# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import fansite
from fansite import _core

PACKAGE = Path(fansite.__file__).parent


def test_import_is_quick_and_light() -> None:
    # CPU time, the best of three: neither a busy machine nor a cold disk is ours to judge.
    code = (
        "import sys, time; import fansite;"
        "heavy = {'pandas', 'sklearn', 'matplotlib', 'scipy', 'networkx', 'tqdm', 'polars'} & set(sys.modules);"
        "print(time.process_time(), ' '.join(heavy))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(3)]
    seconds, *heavy = min(run.stdout for run in runs).split()
    assert heavy == []
    assert float(seconds) < 0.3


def test_selector_is_found_without_being_imported() -> None:
    code = (
        "import sys, fansite; assert 'BoundarySelector' in dir(fansite); assert 'sklearn' not in sys.modules;"
        "fansite.BoundarySelector; assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_selector_without_sklearn_says_what_to_install() -> None:
    code = "import sys; sys.modules['sklearn.base'] = None; import fansite; fansite.BoundarySelector"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode != 0
    assert "pip install fansite[sklearn]" in run.stderr


def test_program_is_installed_and_of_the_same_version(program) -> None:
    assert program("--version").stdout.split() == ["fansite", fansite.__version__]


def test_types_are_shipped() -> None:
    assert (PACKAGE / "py.typed").exists()
    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    stubbed = {node.name for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert stubbed == {name for name in dir(_core) if not name.startswith("_")}


def test_everything_public_exists_and_is_explained() -> None:
    for name in fansite.__all__:
        value = getattr(fansite, name)
        assert name == "__version__" or value.__doc__, name

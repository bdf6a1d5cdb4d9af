# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import fansite
from fansite import _core

PACKAGE = Path(fansite.__file__).parent
REPOSITORY = Path(__file__).resolve().parents[2]


def test_import_is_light() -> None:
    # How long it takes is in `make bench`.
    heavy = {"pandas", "sklearn", "matplotlib", "scipy", "networkx", "tqdm", "polars"}
    code = f"import sys, fansite; print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_wheel_works_in_an_empty_environment(tmp_path) -> None:
    (wheel,) = (REPOSITORY / "dist").glob("fansite-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    (site,) = tmp_path.glob("lib/python*/site-packages")
    for part in Path(np.__file__).parents[1].glob("numpy*"):  # linked: the tests must do without a network
        (site / part.name).symlink_to(part)
    python = tmp_path / "bin" / "python"
    install = ["--python", python, "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)

    code = (
        "import fansite; table = fansite.simulate(nodes=5, rows=500, random_state=1);"
        "print(fansite.__file__, fansite.MarkovBoundary().fit(table.values).boundaries_['x3'])"
    )
    run = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True)
    assert run.stdout.split(maxsplit=1) == [str(site / "fansite" / "__init__.py"), "['x4', 'x1']\n"], run.stderr
    told = subprocess.run([tmp_path / "bin" / "fansite", "--version"], capture_output=True, text=True)
    assert told.stdout.split() == ["fansite", fansite.__version__]


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


def test_everything_public_is_explained() -> None:
    values = {name: getattr(fansite, name) for name in fansite.__all__ if name != "__version__"}
    values |= {f"_core.{name}": getattr(_core, name) for name in dir(_core) if not name.startswith("_")}
    assert [name for name, value in values.items() if not value.__doc__] == []


def test_parameters_are_explained() -> None:
    """Of each public function and method that has some, in NumPy's style; scikit-learn's own are not ours."""
    for name in fansite.__all__:
        value = getattr(fansite, name)
        functions = [value] if inspect.isfunction(value) else inspect.isclass(value) and vars(value).values() or ()
        for function in functions:
            if not inspect.isfunction(function) or function.__name__.startswith("_"):
                continue
            parameters = [each for each in inspect.signature(function).parameters if each != "self"]
            doc = inspect.getdoc(function) or ""
            assert not parameters or "Parameters\n----------\n" in doc, f"{name}.{function.__name__}"
            assert all(re.search(rf"\b{each}\b", doc) for each in parameters), f"{name}.{function.__name__}"

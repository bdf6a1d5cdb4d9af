# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fansite
from fansite import _core
from fansite._parameters import BoundaryParameters
from fansite._settings import documented

PACKAGE = Path(fansite.__file__).parent


def test_import_is_light() -> None:
    # How long it takes is in `make bench`.
    heavy = {"pandas", "sklearn", "matplotlib", "scipy", "networkx", "tqdm", "polars"}
    code = f"import sys, fansite; print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


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


@pytest.mark.parametrize("compiled", [str, inspect.cleandoc], ids=["Python 3.12", "Python 3.13"])
def test_parameters_of_methods_are_put_into_docstrings(compiled) -> None:
    """Python 3.13 takes their indentation off."""
    doc, parameters = (compiled(text) for text in ("Finds.\n\n    {parameters}\n\n    Attributes\n", BoundaryParameters.__doc__))
    base = type("Base", (), {"__doc__": parameters, "__module__": BoundaryParameters.__module__})
    written = documented(type("Finder", (base,), {"__doc__": doc})).__doc__
    assert written.startswith("Finds.\n\nParameters\n----------\n") and written.endswith("\n\nAttributes")
    assert "\nfdr : float" in written and "{parameters}" not in written


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

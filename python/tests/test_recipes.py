# SPDX-License-Identifier: Apache-2.0
"""The recipes of packaging/ ask for what the build asks for. `make test-recipes` builds by one and renders the other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import fansite

REPOSITORY = Path(__file__).resolve().parents[2]
CONAN = REPOSITORY / "packaging" / "conan" / "conanfile.py"
CONDA = REPOSITORY / "packaging" / "conda" / "recipe.yaml"
if not CONAN.exists():
    pytest.skip("packaging/ is not here: these tests are of the repository, not of the wheel", allow_module_level=True)

# CMake's names of what the library is built on, with those of the two package managers. CUDA is for wheels alone.
NAMES = {
    "Eigen3": ("eigen", "eigen"),
    "fmt": ("fmt", "fmt"),
    "TBB": ("onetbb", "tbb-devel"),
    "hwy": ("highway", "libhwy"),
    "ZLIB": ("zlib", "zlib"),
    "nlohmann_json": ("nlohmann_json", "nlohmann_json"),
    "BLAS": ("openblas", "openblas"),
    "CLI11": ("cli11", "cli11"),
}


def test_recipes_have_every_library() -> None:
    found = re.findall(r"find_package\((\w+)", (REPOSITORY / "cmake" / "dependencies.cmake").read_text())
    assert set(found) - {"CUDAToolkit"} == set(NAMES)
    conan = re.findall(r'requires\("([\w-]+)/', CONAN.read_text())
    debian = re.findall(r"^([\w-]+)/[\d.]+$", (CONAN.parent / "debian.profile").read_text(), re.MULTILINE)
    assert set(conan) == set(debian) == {name for name, _ in NAMES.values()}
    host = CONDA.read_text().split("  host:\n")[1].split("  run:\n")[0]
    assert {name for _, name in NAMES.values()} <= set(re.findall(r"- ([\w-]+)", host))


def test_conda_recipe_is_of_this_version_and_has_what_python_asks_for() -> None:
    text = CONDA.read_text()
    assert f'version: "{fansite.__version__}"' in text
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    optional = project["project"]["optional-dependencies"]
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"], *optional["sklearn"], *optional["pandas"], *optional["plots"]]
    asked.append(f"python{project['project']['requires-python']}")
    for requirement in asked:
        name, version = re.fullmatch(r"([\w-]+)(>=[\d.]+)", requirement).groups()
        assert re.search(rf"^ +- {name} {version}$", text, re.MULTILINE), requirement

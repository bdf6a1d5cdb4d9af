# SPDX-License-Identifier: Apache-2.0
"""The wheel that `make wheel` puts in dist/. `make test-wheel` runs all tests with it where nothing else is."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

import fansite

DIST = os.environ.get("FANSITE_DIST", "")
pytestmark = pytest.mark.skipif(not DIST, reason="FANSITE_DIST is not set; make test fills dist/ and sets it")

# Those that every Linux has (PEP 600). Nothing else may be looked for outside of the wheel.
EVERYWHERE = {"libc", "libm", "libdl", "librt", "libpthread", "libz", "libstdc++", "libgcc_s", "ld-linux-x86-64", "ld-linux-aarch64"}
OURS = "openblas|blas|lapack|tbb|hwy|fmt|gfortran|quadmath|fansite"


@pytest.fixture(scope="module")
def wheel() -> Path:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    stable = [each for each in Path(DIST).glob("fansite-*-cp312-abi3-*.whl") if sys.version_info >= (3, 12)]
    (only,) = [*Path(DIST).glob(f"fansite-*-{python}-{python}-*.whl"), *stable]
    return only


def test_is_for_every_linux_that_the_readme_names(wheel) -> None:
    told = re.fullmatch(r"fansite-(.+?)-.*-manylinux_2_(\d+)_(x86_64|aarch64)\.whl", wheel.name)
    assert told and told[1] == fansite.__version__
    assert int(told[2]) <= (34 if told[3] == "x86_64" else 36)
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    assert "any Linux with glibc 2.34 or later" in readme


def test_is_small_and_as_large_as_is_told(wheel) -> None:
    size = wheel.stat().st_size / 1e6
    assert size < 25
    releasing = (Path(__file__).resolve().parents[2] / "docs" / "releasing.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"OpenBLAS\s+\([\d.]+ of ([\d.]+) MB\)", releasing)
    (kernels,) = re.findall(r"kernels for GPUs are in, ([\d.]+) MB of it", releasing)  # where there is nvcc
    assert float(told) - float(kernels) - 1 < size < float(told) + 1


def test_brings_its_libraries(wheel) -> None:
    files = zipfile.ZipFile(wheel)
    held = {Path(name).name for name in files.namelist()}
    for name in files.namelist():
        data = files.read(name)
        if data[:4] != b"\x7fELF":
            continue
        dynamic = list(ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic").iter_tags())
        wanted = {tag.needed for tag in dynamic if tag.entry.d_tag == "DT_NEEDED"}
        assert {each for each in wanted - held if each.split(".so")[0] not in EVERYWHERE} == set(), name
        ways = [getattr(tag, "rpath", getattr(tag, "runpath", "")) for tag in dynamic]
        assert all(part.startswith("$ORIGIN") for way in ways if way for part in way.split(":")), name


def test_libraries_have_names_of_their_own(wheel) -> None:
    """So that NumPy's OpenBLAS, or a system's, is never taken for ours, nor ours for theirs."""
    libraries = [Path(name).name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("fansite.libs/") and ".so" in name]
    assert any(name.startswith("libopenblas") for name in libraries)
    assert [name for name in libraries if not re.search(r"-[0-9a-f]{8}\.", name)] == []


def test_brings_the_licences_of_what_it_holds(wheel) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    licences = [Path(name).name for name in names if "/licenses/third-party/" in name]
    libraries = {re.match("lib[a-z]+", Path(name).name)[0] for name in names if re.match(r"fansite\.libs/lib", name)}
    for held in [library.removesuffix("p") for library in libraries] + ["nanobind", "eigen3", "cli11", "json", "d3"]:
        assert any(held in licence for licence in licences), held


def test_works_in_an_empty_environment(wheel, tmp_path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    (site,) = tmp_path.glob("lib/python*/site-packages")
    for part in Path(np.__file__).parents[1].glob("numpy*"):  # linked: the tests must do without a network
        (site / part.name).symlink_to(part)
    python = tmp_path / "bin" / "python"
    install = ["--python", python, "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)

    code = (
        "import fansite; table = fansite.simulate(nodes=5, rows=500, random_state=1);"
        "print(fansite.__file__, fansite.MarkovBoundary().fit(table.values).boundaries_['x3']);"
        "print(open('/proc/self/maps').read())"
    )
    run = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True)
    answer, _, mapped = run.stdout.partition("\n")
    assert answer.split(maxsplit=1) == [str(site / "fansite" / "__init__.py"), "['x4', 'x1']"], run.stderr
    outside = {path for path in re.findall(r"/\S+\.so\S*", mapped) if not path.startswith((str(site), str(Path(np.__file__).parents[1])))}
    assert [path for path in outside if re.search(rf"/lib({OURS})[.p-]", path)] == []

    program = tmp_path / "bin" / "fansite"
    told = subprocess.run([program, "--version"], capture_output=True, text=True)
    assert told.stdout.split() == ["fansite", fansite.__version__]
    as_module = subprocess.run([python, "-m", "fansite", "--version"], capture_output=True, text=True)
    assert as_module.stdout == told.stdout
    loaded = subprocess.run([site / "fansite" / "bin" / "fansite"], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True).stdout
    assert "not found" not in loaded
    assert {path for path in re.findall(rf"=> (/\S*lib(?:{OURS})[.p-]\S*)", loaded) if not Path(path).resolve().is_relative_to(site.resolve())} == set()


def test_program_ends_as_others_do_when_nobody_reads_on(program) -> None:
    """Python ignores SIGPIPE, and what it starts would inherit that."""
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run([program.path, "methods"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (run.returncode, run.stderr) == (-13, "")

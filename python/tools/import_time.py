# SPDX-License-Identifier: Apache-2.0
"""How long `import fansite` takes in a new interpreter, beside its target; the best of ten, and NumPy's share of it."""

from __future__ import annotations

import subprocess
import sys

TARGET = 0.3
CODE = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def seconds(module: str) -> float:
    """The best of ten: the first ones read from a cold disk."""
    command = [sys.executable, "-c", CODE.format(module)]
    return min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(10))


if __name__ == "__main__":
    print(f"import fansite {seconds('fansite'):.3f} s (target < {TARGET} s), of which numpy {seconds('numpy'):.3f} s")

# SPDX-License-Identifier: Apache-2.0
"""How long `import fansite` takes in a new interpreter, beside its target; the best of ten, and NumPy's share of it."""

from __future__ import annotations

import subprocess
import sys

TARGET = 0.3
CODE = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import {}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


def seconds(module: str) -> str:
    """The best of ten: the first ones read from a cold disk. On a busy machine the processor's time is the fair one."""
    command = [sys.executable, "-c", CODE.format(module)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(10)]
    wall, cpu = (min(map(float, times)) for times in zip(*runs))
    return f"{wall:.3f} s ({cpu:.3f} s of the processor)"


if __name__ == "__main__":
    print(f"import fansite {seconds('fansite')}, target < {TARGET} s; of which numpy {seconds('numpy')}")

# SPDX-License-Identifier: Apache-2.0
"""The program, in the place of this process: `fansite` and `python -m fansite`."""

import os
import signal
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "fansite")
    # Python ignores these two, and so would what it becomes: `fansite methods | head` would end with an error.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    sys.stdout.flush()
    try:
        os.execv(program, sys.argv)
    except OSError as error:
        sys.exit(f"fansite: the package's program does not run: {error}; install the package again")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What several tests read results with."""

from __future__ import annotations

import json
from typing import Any

# Seconds until what does not end is a failure. That what ends takes longer where others compute too is none.
PATIENCE = 600


def without_timing(text: str) -> dict[str, Any]:
    """All of a result but what it cost."""
    result: dict[str, Any] = json.loads(text)
    del result["timing"]
    return result

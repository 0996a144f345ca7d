"""The command that runs the test again which runs here."""

from __future__ import annotations

import os
import shlex
import sys
from typing import List

_roots: List[str] = []
"""The folder that pytest's names are relative to, where its plugin has told it."""


def rooted(folder: str) -> None:
    _roots[:] = [folder]


def command() -> str:
    """The command with which the test is run again, for the seed before it."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if not test:
        return shlex.join(getattr(sys, "orig_argv", [sys.executable, *sys.argv]))
    file, colons, rest = test.partition("::")
    if _roots:
        file = os.path.relpath(os.path.join(_roots[0], file))
    return shlex.join(["python", "-m", "pytest", file + colons + rest])

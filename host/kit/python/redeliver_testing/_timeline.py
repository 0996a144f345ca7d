"""What has happened, for the report of a test that has failed."""

from __future__ import annotations

import os
import re
from typing import Any, List, Mapping, Tuple

from ._types import moment

hosts: List[Any] = []  # those that run
kept: List[Tuple[str, str, List[str]]] = []  # of those that have ended with a failure: test, timeline, logs


def keep(test: str, timeline: str, logs: List[str]) -> None:
    kept.append((test, timeline, logs))


def save(folder: str, test: str, journal: bytes) -> None:
    """Writes a journal for "redeliver explain --journal"."""
    os.makedirs(folder, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "_", test).strip("_") or "test"
    with open(os.path.join(folder, name + ".jsonl"), "wb") as file:
        file.write(journal)


def text(told: Mapping[str, Any]) -> str:
    """What explain says, with equal attempts folded."""
    if isinstance(told.get("text"), str):
        return str(told["text"])
    out = []
    for life in told.get("lives") or []:
        function = f", function {life['function']} ({life.get('trigger')})" if life.get("function") else ""
        out.append(f"message {life.get('message') or life.get('number')} of {life.get('source')}{function}")
        if life.get("policy"):
            out.append(f"  retry     {life['policy']}")
        out += entries(life.get("entries") or [])
        if life.get("next"):
            out.append(f"  next      {life['next']}")
    return "\n".join(out) or "nothing has happened"


def failures(told: List[Mapping[str, Any]]) -> str:
    """Failures of the program, for a person."""
    lines = []
    for one in told:
        where = f"{one['path']}: " if one.get("path") else ""
        lines.append(f"{where}{one.get('message') or ''}")
        if one.get("want") or one.get("got"):
            lines += [f"  want  {one.get('want', '')}", f"  got   {one.get('got', '')}"]
        lines += indented(one)
    return "\n".join(lines)


def indented(told: Mapping[str, Any]) -> List[str]:
    """A timeline below what it is about."""
    return [f"    {line}" for line in told.get("timeline") or ()]


MOST = 12  # equal lines of a life that are shown


def entries(told: List[Mapping[str, Any]]) -> List[str]:
    lines: List[str] = []
    begin = None
    for entry in told:
        at = moment(entry["time"]) if entry.get("time") else None
        begin = begin or at
        passed = f"+{(at - begin).total_seconds():g}s" if at and begin else ""
        indent = "  " if entry.get("attempt") else ""
        lines.append(f"    {passed:<13} {indent}{entry.get('text', '')}")
    if len(lines) > 2 * MOST:
        lines[MOST:-MOST] = [f"    … {len(lines) - 2 * MOST} lines"]
    return lines

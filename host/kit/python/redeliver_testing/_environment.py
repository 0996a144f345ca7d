"""What a host gives its handlers in their environment, which is that of the test's process."""

from __future__ import annotations

import os
from typing import Any, Container, Dict, Iterable, List, Mapping, Optional, Tuple

from ._types import KitError

Taken = List[Tuple[str, str]]

_given: Dict[str, Tuple[Optional[str], List[str]]] = {}  # by name: what was there before, and what the hosts that run have given


def own(options: Mapping[str, Any], name: str) -> bool:
    """Whether a host is meant by a name, whatever this process has under it: a setting of the
    test, or a place that only this host has."""
    return name in options.get("settings", {}) or bool(options.get("ports")) and name.startswith("AzureWebJobs")


def give(entries: Iterable[str], options: Mapping[str, Any]) -> Taken:
    """Gives "name=value" to the handlers of a host. A setting of another host that runs is
    none of theirs: two values at once are refused."""
    taken: Taken = []
    for entry in entries:
        name, _, value = str(entry).partition("=")
        before, values = _given.get(name, (os.environ.get(name), []))
        if not values and before is not None and not own(options, name):
            continue
        if name in options.get("settings", {}) and any(other != value for other in values):
            take_back(taken)
            raise KitError(
                f"setting {name} is {value!r}, and another host of this process that runs has given {values[-1]!r}", "two_settings",
                "handlers of both read one environment: stop the other host before",
            )
        _given[name] = before, [*values, value]
        os.environ[name] = value
        taken.append((name, value))
    return taken


def take_back(taken: Taken) -> None:
    for name, value in taken:
        before, values = _given.pop(name)
        values.remove(value)
        if values:
            _given[name] = before, values
            os.environ[name] = values[-1]
        elif before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before

"""Tests function apps with the real rules of delivery, in virtual time.

    with redeliver_testing.start(app=function_app.app) as host:
        host.send("parcels", {"id": 7})
        host.poisoned("ship")
        assert host.deliveries("ship") == [1, 1, 1, 1, 1]

start() begins a host of its own: queues, Service Bus and the other services, a clock, a
journal. The handlers of the app run in this process, on the thread that waits for the host,
so that mocks, fixtures, coverage and breakpoints work as always. redeliver_testing.aio has the
same names to await.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, List, Mapping, Optional, Sequence, Union

from . import _options
from ._host import Clock, Host
from ._process import Kit
from ._types import Attempt, Failure, Function, Handler, KitError, KitTimeout, Message, Problem, Record, Response, Span

__all__ = [
    "Attempt", "Clock", "Failure", "Function", "Handler", "Host", "Kit", "KitError", "KitTimeout", "Message", "Problem", "Record", "Response", "Span",
    "seeds", "start",
]


def start(
    *, app: Any = None, functions: Optional[Mapping[str, Function]] = None, host: Optional[Mapping[str, Any]] = None,
    settings: Optional[Mapping[str, str]] = None, set: Union[Mapping[str, Any], Sequence[str], None] = None, seed: Optional[int] = None,
    start: Optional[datetime] = None, timeout: Union[Span, float, None] = None, ports: bool = False, instances: bool = False, name: Optional[str] = None,
) -> Host:
    """Starts a host.

    app is a FunctionApp, whose handlers run in this process, or the folder of an app, which
    runs in a process of its own. functions are as in a scenario, with a Python function or a
    script as handler. host is laid over host.json; settings are those of the app, set are
    switches; start is the time at which the clock starts, timeout the real limit of a handler
    or a call, in seconds or as text ("30s").
    """
    return Host(_options.options(app, functions, host, settings, set, seed, start, timeout, ports, instances, name))._open()


def seeds(count: int, first: int = 1) -> List[int]:
    """That many seeds, for pytest.mark.parametrize."""
    return list(range(_options.whole("first", first, 0), first + _options.whole("count", count)))

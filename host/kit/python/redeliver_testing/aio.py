"""redeliver_testing to await, on the loop of the test.

    async with redeliver_testing.aio.start(app=function_app.app) as host:
        await host.send("parcels", {"id": 7})
        await host.poisoned("ship")

Handlers run on this loop: async ones side by side, sync ones in turn.
"""

from __future__ import annotations

import functools
import inspect
from datetime import datetime
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

from . import _options
from ._aio_host import Clock, Host
from ._types import Failure, Function, Span

__all__ = ["Clock", "Host", "start"]


def start(
    *, app: Any = None, functions: Optional[Mapping[str, Function]] = None, host: Optional[Mapping[str, Any]] = None,
    settings: Optional[Mapping[str, str]] = None, set: Union[Mapping[str, Any], Sequence[str], None] = None, seed: Optional[int] = None,
    start: Optional[datetime] = None, timeout: Union[Span, float, None] = None, ports: bool = False, instances: bool = False, name: Optional[str] = None,
) -> Host:
    """A host that "async with" starts; the options are those of redeliver_testing.start."""
    return Host(_options.options(app, functions, host, settings, set, seed, start, timeout, ports, instances, name))


def _owing(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is told of at the end of its host when nobody has awaited it: it has done
    nothing, and a test would pass without it."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        owed: Dict[object, str] = vars(getattr(self, "_host", self)).setdefault("_owed", {})
        one = object()
        owed[one] = name

        async def run() -> Any:
            del owed[one]
            answer = await method(self, *args, **options)
            if name == "stop" and owed:
                names = ", ".join(sorted(set(owed.values())))
                owed.clear()
                raise Failure(f"called, and not awaited: {names}")
            return answer

        return run()

    return call


for _kind in (Host, Clock):
    for _name, _method in list(vars(_kind).items()):
        if not _name.startswith("_") and inspect.iscoroutinefunction(_method):
            setattr(_kind, _name, _owing(_name, _method))

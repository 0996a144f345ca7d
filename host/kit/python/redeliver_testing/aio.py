"""redeliver_testing to await, on the loop of the test.

    async with redeliver_testing.aio.start(app=function_app.app) as host:
        await host.send("parcels", {"id": 7})
        await host.poisoned("ship")

Handlers run on this loop: async ones side by side, sync ones in turn.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Mapping, Optional, Sequence, Union

from . import _options
from ._aio_host import Clock, Host
from ._types import Function, Span

__all__ = ["Clock", "Host", "start"]


def start(
    *, app: Any = None, functions: Optional[Mapping[str, Function]] = None, host: Optional[Mapping[str, Any]] = None,
    settings: Optional[Mapping[str, str]] = None, set: Union[Mapping[str, Any], Sequence[str], None] = None, seed: Optional[int] = None,
    start: Optional[datetime] = None, timeout: Union[Span, float, None] = None, ports: bool = False, instances: bool = False, name: Optional[str] = None,
) -> Host:
    """A host that "async with" starts; the options are those of redeliver_testing.start."""
    return Host(_options.options(app, functions, host, settings, set, seed, start, timeout, ports, instances, name))

"""Handlers that sleep by the clock of their host. The host knows one time for each of them: the
earliest for which it waits."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, List, Optional, Tuple

Wait = Callable[[float], Awaitable[str]]


class Cancelled(Exception):
    """The invocation has to end: its time is over, or its host ends."""

    def __init__(self) -> None:
        super().__init__("the invocation has to end: its time is over, or the host ends")


class Naps:
    """The sleeps of one call of a handler on a loop."""

    def __init__(self, wait: Wait) -> None:
        self._wait = wait  # asks the host: of seconds, how it ended
        self._slept = 0.0  # by the host's clock
        self._waiting: List[Tuple[float, "asyncio.Future[None]"]] = []
        self._serving: Optional["asyncio.Task[None]"] = None
        self._asked: Optional[float] = None
        self._hurried: Optional["asyncio.Future[Any]"] = None

    async def sleep(self, seconds: float) -> None:
        one = (self._slept + seconds, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        if self._asked is not None and one[0] < self._asked:
            self._hurry()
        if self._serving is None or self._serving.done():
            self._serving = asyncio.ensure_future(self._serve())
        try:
            await one[1]
        finally:
            if one in self._waiting:  # cancelled
                self._waiting.remove(one)
                if self._asked is not None:
                    self._hurry()

    def _hurry(self) -> None:
        """Has the host learn of a sleep that ends before what it was asked for, or of one less."""
        self._hurried = asyncio.ensure_future(self._wait(0))
        self._hurried.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _serve(self) -> None:
        try:
            while True:
                for _ in range(8):  # what was woken runs before time may move on
                    await asyncio.sleep(0)
                if not self._waiting:
                    return
                due = self._asked = min(at for at, _ in self._waiting)
                how = await self._wait(due - self._slept)
                self._asked = None
                if how == "cancelled":
                    raise Cancelled
                if how != "met":
                    continue
                self._slept = due
                for one in [w for w in self._waiting if w[0] <= due]:
                    self._waiting.remove(one)
                    if not one[1].done():
                        one[1].set_result(None)
        except Exception as error:
            for _, future in self._waiting:
                if not future.done():
                    future.set_exception(error)
                    future.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._waiting.clear()
        finally:
            self._asked = None

"""The real limit of a handler that runs on the thread of the test."""

from __future__ import annotations

import ctypes
import faulthandler
import sys
import threading
import time
from typing import List, Optional

from ._attached import debugged
from ._types import KitTimeout

LOOK = 0.5  # how often a debugger is looked for once the limit is over, in seconds
DEAF = 5.0  # after which a handler that does not hear has its stacks printed, in seconds


class Limit:
    """Raises KitTimeout in a handler that runs for longer than its limit. One thread watches
    over all handlers of the process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: List["_Call"] = []
        self._thread: Optional[threading.Thread] = None

    def begin(self, seconds: float) -> "_Call":
        call = _Call(time.monotonic() + seconds, threading.get_ident())
        with self._changed:
            self._calls.append(call)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._watch, name="redeliver limit", daemon=True)
                self._thread.start()
            elif len(self._calls) == 1:
                self._changed.notify()
        return call

    def end(self, call: "_Call") -> None:
        with self._changed:
            if call in self._calls:
                self._calls.remove(call)

    def _watch(self) -> None:
        with self._changed:
            while True:
                self._changed.wait(self._rest())
                for call in list(self._calls):
                    self._look(call)

    def _rest(self) -> Optional[float]:
        if not self._calls:
            return None
        return max(LOOK, min(call.until for call in self._calls) - time.monotonic())

    def _look(self, call: "_Call") -> None:
        now = time.monotonic()
        if now < call.until:
            return
        if debugged():
            call.until = now + LOOK
        elif call.over is None:
            call.over = now
            call.until = now + DEAF
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(call.thread), ctypes.py_object(KitTimeout))
        else:
            faulthandler.dump_traceback(sys.__stderr__ or 2)
            call.until = now + 1e9


class _Call:
    def __init__(self, until: float, thread: int) -> None:
        self.until, self.thread = until, thread
        self.over: Optional[float] = None


limit = Limit()

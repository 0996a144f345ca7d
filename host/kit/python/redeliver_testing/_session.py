"""A host of the kit, seen from here: calls by HTTP, and the handlers that they start."""

from __future__ import annotations

import asyncio
import collections
import http.client
import json
import logging
import selectors
import socket
import threading
import time
from datetime import datetime, timedelta
from typing import Any, Deque, Dict, List, Mapping, NamedTuple, Optional, Set
from urllib.parse import quote, urlencode

from . import _environment, _process, _timeline
from ._attached import Handlers, Lines, debugged
from ._naps import Cancelled, Naps
from ._limit import limit
from ._types import Failure, KitError, KitTimeout, moment
from ._worker import answers, logs

MOST = 1 << 16

__tracebackhide__ = True  # of pytest: a failure is shown where the test called


class Answer(NamedTuple):
    """What comes back by HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def line(kind: str, body: Mapping[str, Any], request: str, most: int) -> bytes:
    """A message of the handlers. A ValueError or TypeError: it has no form that can travel."""
    text = json.dumps({"requestId": request, kind: body}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    out = text.encode("utf-8", "replace") + b"\n"  # half a character has no form in UTF-8
    if most and len(out) > most:
        raise ValueError(f"the message has {len(out)} bytes, and the host takes {most}")
    return out


class Wire:
    """The connection of the handlers."""

    def __init__(self, address: Mapping[str, Any]) -> None:
        host, _, port = str(address["address"]).rpartition(":")
        self._most = int(address.get("maxMessageLength") or 0)
        self._request = str(address.get("requestId") or "")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sending = threading.Lock()
        self._rest = b""
        self.send("startStream", {"workerId": address["id"]})

    def send(self, kind: str, body: Mapping[str, Any], request: Optional[str] = None) -> None:
        """Sends a message, from any thread. That the connection has ended is for who reads it."""
        out = line(kind, body, self._request if request is None else request, self._most)
        try:
            with self._sending:
                self._socket.sendall(out)
        except OSError:
            pass

    def fileno(self) -> int:
        return int(self._socket.fileno())

    def take(self) -> List[bytes]:
        """The lines that have come. It is called when something has."""
        part = self._socket.recv(MOST)
        if not part:
            raise KitError("the kit has closed the connection of the handlers", "worker_lost")
        *whole, self._rest = (self._rest + part).split(b"\n")
        return whole

    def close(self) -> None:
        self._socket.close()


class Connections:
    """HTTP/1.1 with the kit; a call within a call has a connection of its own."""

    def __init__(self, kit: _process.Kit) -> None:
        self.kit = kit
        self._idle: List[http.client.HTTPConnection] = []

    def begin(self, method: str, path: str, body: Optional[bytes], kind: str, more: Optional[Mapping[str, str]]) -> http.client.HTTPConnection:
        headers = {"User-Agent": "redeliver-testing-python"}
        if body is not None:
            headers["Content-Type"] = kind
        for name, value in (more or {}).items():
            headers["X-Redeliver-Authorization" if name.lower() == "authorization" else name] = value
        headers["Authorization"] = f"Bearer {self.kit.token}"
        while True:
            fresh = not self._idle
            connection = http.client.HTTPConnection(self.kit.host, self.kit.port) if fresh else self._idle.pop()
            try:
                if fresh:
                    connection.connect()
                    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.request(method, path, body, headers)
                return connection
            except OSError as error:
                connection.close()
                if fresh:
                    raise KitError(f"the kit does not answer: {error}{self.kit.last_words()}", "kit_ended") from None

    def end(self, connection: http.client.HTTPConnection) -> Answer:
        try:
            response = connection.getresponse()
            got = Answer(response.status, dict(response.getheaders()), response.read())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise KitError(f"the kit does not answer: {error}{self.kit.last_words()}", "kit_ended") from None
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return got

    def close(self) -> None:
        for connection in self._idle:
            connection.close()
        self._idle = []


def checked(answer: Answer) -> Any:
    """What an answer says; a refusal is raised."""
    status, _, body = answer
    told: Any
    try:
        told = json.loads(body) if body else None
    except ValueError:
        told = {"error": body.decode("utf-8", "replace").strip()}
    if status < 400:
        return told
    if not isinstance(told, dict):
        told = {"error": f"status {status}"}
    if told.get("code") == "step_failed":
        raise Failure(_timeline.failures(list(told.get("failures") or [{"message": told.get("error")}])))
    raise KitError(str(told.get("error") or f"status {status}"), str(told.get("code") or ""), str(told.get("hint") or ""))


def refused(answer: Answer) -> None:
    """Raises what the kit refuses; what a function answers has another form."""
    if any(name.lower() == "redeliver-refusal" for name in answer.headers):
        checked(answer)


def target(path: str, query: Mapping[str, Any]) -> str:
    given = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items() if value is not None}
    return path + ("?" + urlencode(given, doseq=True) if given else "")


def escaped(part: str) -> str:
    return quote(part, safe="")


class _Base:
    """What both kinds of sessions have."""

    def __init__(self, handlers: Optional[Handlers], seconds: float) -> None:
        self.kit = _process.kit()
        self.id = ""
        self.info: Dict[str, Any] = {}
        self._handlers, self._seconds = handlers, seconds
        self._connections = Connections(self.kit)
        self._wire: Any = None
        self._lines: Optional[Lines] = None
        self._options: Mapping[str, Any] = {}
        self._taken: _environment.Taken = []
        self._sleeping: List[datetime] = []  # until when handlers sleep, on this thread
        self._pending: Deque[bytes] = collections.deque()  # what the host has said, and nobody has looked at
        self._woken: Dict[str, str] = {}  # the host's time for calls that have slept
        self._naps: Dict[str, Naps] = {}  # of calls on the loop

    def _opened(self, info: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Takes note of a host that has started; the place of its handlers, if it waits for
        them."""
        self.info, self.id = info, str(info["id"])
        return info.get("worker") if self._handlers is not None else None

    def _started(self, info: Dict[str, Any]) -> None:
        """Takes note of a host that has its handlers, and gives them what they would have in
        their environment."""
        self.info.update(info)
        self._taken = _environment.give(info.get("environment") or (), self._options)

    def _listen(self, wire: Any) -> None:
        assert self._handlers is not None
        self._wire = wire
        self._lines = Lines(wire, self._handlers.running)
        logging.getLogger().addHandler(self._lines)

    def _leave(self) -> None:
        if self._lines is not None:
            logging.getLogger().removeHandler(self._lines)
        if self._wire is not None:
            self._wire.close()
        _environment.take_back(self._taken)
        self._taken = []
        self._connections.close()

    def path(self, verb: str) -> str:
        return f"/kit/hosts/{self.id}/{verb}" if verb else f"/kit/hosts/{self.id}"

    def _asleep(self, seconds: float) -> Dict[str, Any]:
        """What the host is asked for, by the handler that runs here."""
        body: Dict[str, Any] = {"for": f"{seconds:.7f}s"}
        identity = logs.invocation.get()
        running = self._handlers.running if self._handlers is not None else {}
        if identity not in running and len(running) == 1:
            identity = next(iter(running))  # a thread of the handler's own
        if identity in running:
            body["invocation"] = identity
        return body

    def overdue(self, what: str) -> KitTimeout:
        running = self._handlers.told() if self._handlers is not None else ""
        return KitTimeout(f"{running or what} has run for {self._seconds:g} s")


class Session(_Base):
    """A host whose handlers run on the thread that waits for it."""

    def open(self, options: Mapping[str, Any]) -> None:
        self._options = options
        worker = self._opened(self.ask("POST", "/kit/hosts", options))
        try:
            if worker is not None:
                self._listen(Wire(worker))
                self._started(self.ask("POST", self.path("ready")))
        except BaseException:
            self.close()
            raise

    def verb(self, method: str, name: str, /, body: Any = None, **query: Any) -> Any:
        return self.ask(method, target(self.path(name), query), body)

    def control(self, method: str, operation: str, /, body: Any = None, kind: str = "application/octet-stream", **query: Any) -> Any:
        return checked(self.raw(method, target(self.path("admin/redeliver/" + operation), query), body, kind))

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        sent = None if body is None else json.dumps(body, allow_nan=False).encode("utf-8")
        return checked(self.raw(method, path, sent, "application/json"))

    def raw(
        self, method: str, path: str, body: Optional[bytes] = None, kind: str = "application/octet-stream", headers: Optional[Mapping[str, str]] = None
    ) -> Answer:
        """A call. Until its answer comes the handlers run."""
        connection = self._connections.begin(method, path, body, kind, headers)
        try:
            self._serve(connection, f"{method} {path}")
        except BaseException:
            connection.close()
            raise
        return self._connections.end(connection)

    def sleep(self, seconds: float) -> None:
        """Waits for virtual time, which moves as far as the calls above do not move it."""
        body = self._asleep(seconds)
        identity = str(body.get("invocation") or "")
        until = moment(str(self._now(identity))) + timedelta(seconds=seconds)
        below = [at for at in self._sleeping if at < until]
        if below:
            raise KitError(
                f"two handlers sleep at once on this thread, and the one that began first, until {below[-1]:%H:%M:%S}, cannot go on before the other, until {until:%H:%M:%S}",
                "asleep_below", 'use redeliver_testing.aio, or let one run at a time: host={"extensions": {"queues": {"batchSize": 1, "newBatchThreshold": 0}}}',
            )
        self._sleeping.append(until)
        try:
            told = self.ask("POST", self.path("clock/wait"), {**body, "drive": True})
        finally:
            self._sleeping.pop()
        self._woken[identity] = str(told["now"])
        if told["stopped"] == "cancelled":
            raise Cancelled

    def _now(self, identity: str) -> str:
        """The host's time for a call."""
        if identity in self._woken:
            return self._woken[identity]
        call = self._handlers.running.get(identity) if self._handlers is not None else None
        told = ((call or {}).get("traceContext") or {}).get("attributes") or {}
        return str(told.get("redeliver.now") or self.control("GET", "clock")["now"])

    def _serve(self, connection: http.client.HTTPConnection, what: str) -> None:
        until = time.monotonic() + self._seconds
        with selectors.DefaultSelector() as selector:
            selector.register(connection.sock, selectors.EVENT_READ)
            if self._wire is not None:
                selector.register(self._wire, selectors.EVENT_READ)
            while True:
                while self._pending and self._wire is not None:
                    wire = self._wire
                    self._take(self._pending.popleft())
                    if self._wire is None:
                        selector.unregister(wire)
                        wire.close()
                    until = time.monotonic() + self._seconds
                ready = {key.fileobj for key, _ in selector.select(max(0.0, until - time.monotonic()))}
                if self._wire is not None and self._wire in ready:
                    self._pending.extend(self._wire.take())
                elif ready:
                    return
                elif debugged():
                    until = time.monotonic() + self._seconds
                else:
                    raise self.overdue(what)

    def _take(self, text: bytes) -> None:
        handlers = self._handlers
        if not text.strip() or handlers is None:
            return
        message = json.loads(text)
        request = str(message.get("requestId") or "")
        for kind, body in message.items():
            if kind == "invocationRequest":
                self._call(handlers, request, body or {})
            elif kind == "workerTerminate":
                self._wire = None  # who reads it closes it
            elif isinstance(body, dict):
                answer = handlers.answer(kind, body)
                if answer is not None:
                    self._wire.send(*answer, request)

    def _call(self, handlers: Handlers, request: str, body: Dict[str, Any]) -> None:
        function = handlers.function(body)
        if function is None:
            answers.send(self._wire, request, body, answers.unknown(body))
            return
        late: Optional[KitTimeout] = None
        with handlers.call(body):
            call = limit.begin(self._seconds)
            try:
                if function.is_async:
                    answer = apart(answers.called_async(function, body, handlers.failed))
                else:
                    answer = answers.called(function, body, handlers.failed)
            except KitTimeout as error:  # it came late, and met the kit's own code
                answer = handlers.failed(error)
            finally:
                limit.end(call)
            if call.over is not None:
                late = self.overdue("a handler")
        self._woken.pop(str(body.get("invocationId") or ""), None)
        answers.send(self._wire, request, body, answer)
        raised, handlers.raised = handlers.raised, None
        if raised is not None:
            raise raised
        if late is not None:
            raise late

    def close(self) -> Dict[str, Any]:
        try:
            return dict(self.ask("DELETE", self.path("")) or {})
        finally:
            self._leave()


def apart(coroutine: Any) -> Any:
    """Runs an async handler to its end. A test that is async itself has a loop already, and
    wants redeliver_testing.aio."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine)
    except RuntimeError:
        coroutine.close()
        raise
    finally:
        loop.close()


class AsyncWire:
    """The connection of the handlers, on the loop of the test."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: Mapping[str, Any]) -> None:
        self.reader, self._writer = reader, writer
        self._most = int(address.get("maxMessageLength") or 0)
        self.send("startStream", {"workerId": address["id"]}, str(address.get("requestId") or ""))

    @classmethod
    async def connect(cls, address: Mapping[str, Any]) -> "AsyncWire":
        host, _, port = str(address["address"]).rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 30)
        return cls(reader, writer, address)

    def send(self, kind: str, body: Mapping[str, Any], request: str = "") -> None:
        self._writer.write(line(kind, body, request, self._most))

    def close(self) -> None:
        self._writer.close()


class AsyncSession(_Base):
    """A host whose handlers run on the loop of the test: sync ones in turn, async ones side by
    side."""

    _serving: Optional["asyncio.Task[None]"] = None
    _broken: Optional["asyncio.Future[Any]"] = None
    _alive = 0.0

    async def open(self, options: Mapping[str, Any]) -> None:
        self._options = options
        worker = self._opened(await self.ask("POST", "/kit/hosts", options))
        try:
            if worker is not None:
                self._listen(await AsyncWire.connect(worker))
                self._broken = asyncio.get_running_loop().create_future()
                self._serving = asyncio.ensure_future(self._serve())
                self._started(await self.ask("POST", self.path("ready")))
        except BaseException:
            await self.close()
            raise

    async def verb(self, method: str, name: str, /, body: Any = None, **query: Any) -> Any:
        return await self.ask(method, target(self.path(name), query), body)

    async def control(self, method: str, operation: str, /, body: Any = None, kind: str = "application/octet-stream", **query: Any) -> Any:
        return checked(await self.raw(method, target(self.path("admin/redeliver/" + operation), query), body, kind))

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        sent = None if body is None else json.dumps(body, allow_nan=False).encode("utf-8")
        return checked(await self.raw(method, path, sent, "application/json"))

    async def raw(
        self, method: str, path: str, body: Optional[bytes] = None, kind: str = "application/octet-stream", headers: Optional[Mapping[str, str]] = None
    ) -> Answer:
        if not self.id and path != "/kit/hosts":
            raise KitError("the host has not begun", "not_begun", 'write "async with start(…) as host"')
        loop = asyncio.get_running_loop()

        def call() -> Answer:
            return self._connections.end(self._connections.begin(method, path, body, kind, headers))

        answer = asyncio.ensure_future(loop.run_in_executor(None, call))
        waiting: List[Any] = [answer] if self._broken is None else [answer, self._broken]
        self._alive = time.monotonic()
        while True:
            done, _ = await asyncio.wait(waiting, timeout=max(0.05, self._alive + self._seconds - time.monotonic()), return_when=asyncio.FIRST_COMPLETED)
            if answer in done:
                return answer.result()
            if self._broken is not None and self._broken.done():
                broken, self._broken = self._broken, loop.create_future()
                answer.add_done_callback(lambda late: late.cancelled() or late.exception())
                broken.result()
            if time.monotonic() - self._alive >= self._seconds and not debugged():
                answer.add_done_callback(lambda late: late.cancelled() or late.exception())
                raise self.overdue(f"{method} {path}")

    async def sleep(self, seconds: float) -> None:
        """Waits for virtual time, in a handler or beside it."""
        body = self._asleep(seconds)
        identity = str(body.get("invocation") or "")
        if not identity:
            await self._wait(body)
            return
        if identity not in self._naps:

            async def wait(more: float) -> str:
                return await self._wait({"for": f"{more:.7f}s", "invocation": identity})

            self._naps[identity] = Naps(wait)
        await self._naps[identity].sleep(seconds)

    async def _wait(self, body: Dict[str, Any]) -> str:
        return str((await self.ask("POST", self.path("clock/wait"), body))["stopped"])

    async def _serve(self) -> None:
        tasks: Set["asyncio.Task[None]"] = set()
        while True:
            text = await self._wire.reader.readline()
            if not text:
                return
            message = json.loads(text)
            request = str(message.get("requestId") or "")
            for kind, body in message.items():
                if kind == "invocationRequest":
                    task = asyncio.ensure_future(self._call(request, body or {}))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                elif kind == "workerTerminate":
                    self._wire.close()
                    return
                elif isinstance(body, dict) and self._handlers is not None:
                    answer = self._handlers.answer(kind, body)
                    if answer is not None:
                        self._wire.send(*answer, request)

    async def _call(self, request: str, body: Dict[str, Any]) -> None:
        handlers = self._handlers
        assert handlers is not None
        self._alive = time.monotonic()
        function = handlers.function(body)
        if function is None:
            answers.send(self._wire, request, body, answers.unknown(body))
            return
        with handlers.call(body):
            if function.is_async:
                answer = await answers.called_async(function, body, handlers.failed)
            else:
                call = limit.begin(self._seconds)
                try:
                    answer = answers.called(function, body, handlers.failed)
                except KitTimeout as error:
                    answer = handlers.failed(error)
                finally:
                    limit.end(call)
                if call.over is not None and self._broken is not None and not self._broken.done():
                    self._broken.set_exception(self.overdue("a handler"))
        self._alive = time.monotonic()
        self._naps.pop(str(body.get("invocationId") or ""), None)
        answers.send(self._wire, request, body, answer)
        raised, handlers.raised = handlers.raised, None
        if raised is not None and self._broken is not None and not self._broken.done():
            self._broken.set_exception(raised)

    async def close(self) -> Dict[str, Any]:
        try:
            return dict(await self.ask("DELETE", self.path("")) or {})
        finally:
            if self._serving is not None:
                self._serving.cancel()
            self._leave()

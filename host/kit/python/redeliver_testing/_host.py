"""A host, and all that a test does with it."""

# Written by unasync.py from _aio_host.py: edit that.

from __future__ import annotations

import os
from datetime import datetime
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, Union

from . import _again, _options, _timeline
from ._session import Session, escaped, refused
from ._types import (
    Attempt, Failure, Function, Json, KitError, Message, Record, Response, Span, attempt, bus_message, encoded, moment, queue_message, span_seconds, span_text,
)

Pattern = Mapping[str, Any]

ALL = _options.ALL
EVERY: Pattern = {}
"""No pattern: all records."""

PLACES = {"storage": "storage", "blobs": "blobs", "queues": "queues", "servicebus": "serviceBus", "eventhubs": "serviceBus", "eventgrid": "eventGrid"}

__tracebackhide__ = True  # of pytest: a failure is shown where the test called


class Clock:
    """The virtual time of a host. It moves in calls that wait for something, and in these."""

    def __init__(self, host: "Host") -> None:
        self._host = host

    def now(self) -> datetime:
        told = self._host._session.control("GET", "clock")
        return moment(told["now"])

    def advance(self, by: Span) -> datetime:
        """Moves time forward, and runs what is due meanwhile."""
        return self._host._drive({"by": span_text(by)})

    def next(self) -> datetime:
        """Moves time to the next thing that is due, and runs that."""
        return self._host._drive({"next": True})

    def jump(self, by: Span) -> datetime:
        """Moves time as when the machine has slept: what was due comes late."""
        return self._host._drive({"jump": span_text(by)})

    def sleep(self, by: Union[Span, float], result: Any = None) -> Any:
        """Waits for virtual time, in a handler: time goes on meanwhile. It can take the place of
        time.sleep, or in redeliver_testing.aio of asyncio.sleep; a number is seconds."""
        self._host._session.sleep(span_seconds(by))
        return result


class Host:
    """A host of one test: its own services, clock and journal. Close it with "with", or with
    stop()."""

    def __init__(self, options: "_options.Options") -> None:
        self._options = options
        self._session = Session(options.handlers(), options.seconds)
        self._stopped = False
        self.clock = Clock(self)

    def _open(self) -> "Host":
        self._session.open(self._options.sent())
        _timeline.hosts.append(self)
        return self

    def __enter__(self) -> "Host":
        return self if self._session.id else self._open()

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if error is None:
            self.stop()
            return
        self._remember()
        try:
            self.stop()
        except (KitError, Failure):
            pass  # the test's own failure counts

    def _remember(self) -> None:
        """Keeps the timeline of a test that has failed, for its report."""
        try:
            _timeline.keep(self._options.name, self.explain(), self.logs())
            folder = os.environ.get("REDELIVER_KEEP")
            if folder:
                _timeline.save(folder, self._options.name, (self._session.raw("GET", self._session.path("admin/redeliver/journal"))).body)
        except (KitError, OSError):
            pass

    def stop(self) -> None:
        """Ends the host. A Failure says what the test has asked for and nothing has met, such
        as a fault. Further calls do nothing."""
        if self._stopped:
            return
        self._stopped = True
        if self in _timeline.hosts:
            _timeline.hosts.remove(self)
        told = self._session.close()
        if told.get("failures"):
            raise Failure(_timeline.failures(told["failures"]))

    # What comes in.

    def send(self, queue: str, body: Any, *, raw: bool = False, visibility: Optional[Span] = None, ttl: Optional[Span] = None) -> str:
        """Sends a message to a queue, and runs the deliveries that it starts. Answers its ID.
        raw sends the text as it is, and not as the queue's messages are encoded."""
        told = self._session.control(
            "POST", f"queues/{escaped(_options.named('queue', queue))}/messages", encoded(body), raw=raw or None,
            visibility=span_text(visibility) if visibility is not None else None, ttl=span_text(ttl) if ttl is not None else None,
        )
        return str(told["id"])

    def send_service_bus(
        self, path: str, body: Any, *, message_id: Optional[str] = None, session: Optional[str] = None, subject: Optional[str] = None,
        content_type: Optional[str] = None, correlation_id: Optional[str] = None, properties: Optional[Mapping[str, Union[str, int, float]]] = None, delay: Optional[Span] = None,
    ) -> str:
        """Sends a message to a queue or topic of Service Bus. Answers its ID."""
        told = self._session.control(
            "POST", "servicebus/messages", encoded(body), path=_options.named("path", path), id=message_id, session=session, subject=subject, contentType=content_type,
            correlation=correlation_id, delay=span_text(delay) if delay is not None else None,
            property=[_options.application_property(name, value) for name, value in (properties or {}).items()] or None,
        )
        return str(told["messageId"])

    def publish(self, topic: str, events: Union[Json, Sequence[Json]]) -> List[str]:
        """Publishes events to a topic of Event Grid. Answers their IDs."""
        told = self._session.control("POST", "eventgrid/events", encoded(_options.filled("events", list(events) if isinstance(events, (list, tuple)) else [events])), "application/json", topic=_options.named("topic", topic))
        return [str(one) for one in told.get("ids") or []]

    def send_events(self, hub: str, bodies: Sequence[Any], *, key: Optional[str] = None) -> None:
        """Sends events to an event hub, in order."""
        for body in _options.several("bodies", bodies):
            self._session.control("POST", "eventhubs/events", encoded(body), hub=_options.named("hub", hub), key=key)

    def upload(self, path: str, data: Any, *, content_type: Optional[str] = None) -> None:
        """Writes a blob; path is container/name."""
        container, _, name = path.partition("/")
        self._session.control(
            "PUT", f"containers/{escaped(container)}/blob", encoded(data), content_type or "application/octet-stream", name=name, create=True
        )

    def write(self, container: str, documents: Union[Json, Sequence[Json]]) -> List[str]:
        """Writes documents of Cosmos DB; container is database/container. Answers their IDs."""
        told = self._session.control("POST", "cosmos/documents", encoded(_options.filled("documents", list(documents) if isinstance(documents, (list, tuple)) else [documents])), "application/json", container=_options.named("container", container), create=True)
        return [str(one) for one in told.get("ids") or []]

    def request(self, method: str, path: str, body: Any = None, *, headers: Optional[Mapping[str, str]] = None) -> Response:
        """Makes a request of an HTTP function; path is as in a URL, "/api/orders"."""
        if not path.startswith("/"):
            raise ValueError(f"the path {path!r} has to begin with a slash, as in \"/api/orders\"")
        answer = self._session.raw(method, self._session.path("http" + path), None if body is None else encoded(body), headers=headers)
        refused(answer)
        return Response(*answer)

    def call(self, function: str, input: Any = None) -> Json:
        """Calls a function by hand, as the admin API does. Answers what the program says of it."""
        return self._session.verb("POST", "call", {"function": _options.named("function", function), "input": encoded("" if input is None else input).decode("utf-8")})

    # What a test waits for: time moves until it happens. A Failure says at once that it cannot.

    def settled(self, function: str = ALL) -> Record:
        """The next end of a delivery, of a function."""
        return self._until({"settled": _options.one("function", function) or True})

    def poisoned(self, function: str = ALL) -> Record:
        """The next message that is poison."""
        return self._until({"poisoned": _options.one("function", function) or True})

    def dead_lettered(self, path: str = ALL) -> Record:
        """The next dead letter, of a queue or a subscription."""
        return self._until({"deadLettered": _options.one("path", path) or True})

    def completed(self, function: str = ALL) -> Record:
        """The next message that a function is done with."""
        return self._until({"completed": _options.one("function", function) or True})

    def checkpointed(self, function: str = ALL) -> Record:
        """The next checkpoint, of a function of Event Hubs or Cosmos DB."""
        return self._until({"checkpointed": _options.one("function", function) or True})

    def until(self, pattern: Pattern) -> Record:
        """The next record of the journal that has these members."""
        return self._until(pattern)

    def idle(self) -> datetime:
        """Moves time until nothing is left to happen but ticks of timers."""
        return self._drive({"idle": True})

    def _until(self, pattern: Pattern) -> Record:
        told = self._session.verb("POST", "drive", {"until": _options.members("pattern", pattern)})
        if told.get("stopped") != "met" or not told.get("record"):
            raise Failure("\n".join([f"{told.get('text')}; it is {told.get('now')}", *_timeline.indented(told), self._again()]))
        return Record(told["record"])

    def _drive(self, how: Mapping[str, Any]) -> datetime:
        told = self._session.verb("POST", "drive", how)
        if told.get("stopped") == "horizon" and "idle" in how:
            raise Failure(f"something is still left to happen after 7 days of virtual time; it is {told.get('now')}, {self._again()}")
        return moment(told["now"])

    def _again(self) -> str:
        return f"seed {self.seed}; again with REDELIVER_SEED={self.seed} {_again.command()}"

    # What there is. Nothing changes.

    def attempts(self, function: str = ALL) -> List[Attempt]:
        """All attempts so far, of a function."""
        return [attempt(one) for one in self._session.verb("GET", "attempts", function=_options.one("function", function))]

    def deliveries(self, function: str) -> List[int]:
        """The attempts in each delivery of a function, such as [5, 5, 5]."""
        counts: Dict[Any, int] = {}
        for one in self.attempts(_options.named("function", function)):
            delivery = one.message_id, one.delivery, one.delivery_id
            counts[delivery] = counts.get(delivery, 0) + 1
        return list(counts.values())

    def explain(self, message: str = ALL) -> str:
        """What has become of a message, or of all, and why."""
        return _timeline.text(self._session.control("GET", "explain", message=_options.one("message", message)))

    def queue(self, name: str) -> List[Message]:
        """The messages of a queue that are visible."""
        told = self._session.control("GET", f"queues/{escaped(_options.named('name', name))}/messages")
        return [queue_message(one) for one in told.get("messages") or []]

    def service_bus(self, path: str) -> List[Message]:
        """The messages of a queue, a subscription (topic/subscription), or of what follows
        these: /$DeadLetterQueue."""
        told = self._session.control("GET", "servicebus/messages", path=_options.entity(_options.named("path", path)))
        return [bus_message(one) for one in told.get("messages") or []]

    def blob(self, path: str) -> bytes:
        """The content of a blob; path is container/name."""
        container, _, name = path.partition("/")
        status, _headers, body = self._session.raw("GET", _options.target(self._session.path(f"admin/redeliver/containers/{escaped(container)}/blob"), {"name": name}))
        if status >= 400:
            raise KitError(body.decode("utf-8", "replace").strip(), "no_blob")
        return body

    def documents(self, container: str) -> List[Json]:
        """The documents of a container of Cosmos DB."""
        told = self._session.control("GET", "cosmos/documents", container=_options.named("container", container))
        return list(told.get("documents") or [])

    def outputs(self, function: str) -> List[Dict[str, Any]]:
        """What a function has put out to bindings that are only recorded."""
        told = self._session.control("GET", "outputs/values", name=_options.named("function", function))
        return list(told.get("outputs") or [])

    def journal(self, pattern: Pattern = EVERY) -> List[Record]:
        """The records that have these members, as until() compares them, or all."""
        told = self._session.verb("POST", "records", {} if pattern is EVERY else {"pattern": _options.members("pattern", pattern)})
        return [Record(one) for one in told]

    def logs(self, function: str = ALL) -> List[str]:
        """The lines that handlers have logged."""
        wanted: Dict[str, Any] = {"kind": "handler_log"}
        if function is not ALL:
            wanted["function"] = _options.named("function", function)
        return [f"{r.get('level', '')}: {r.get('message', '')}" for r in self.journal(wanted)]

    # What must have happened.

    def expect(self, **then: Any) -> None:
        """Compares with the "then" of a scenario: functions, queues, service_bus, blobs,
        journal, nothing_else, invariants. A Failure has every difference."""
        told = self._session.verb("POST", "expect", {"then": _options.camel(then)})
        if told.get("failures"):
            raise Failure(f"{told['text']} {_again.command()}" if told.get("text") else _timeline.failures(told["failures"]))

    # What goes wrong.

    def fault(
        self, *, service: str = ALL, entity: str = ALL, operation: str = ALL, after: bool = False, lost: bool = False, error: Optional[str] = None,
        status: Optional[int] = None, latency: Optional[Span] = None, times: Optional[int] = None,
    ) -> None:
        """Makes operations of a service fail, for the app: before their effect, after it, or
        lost, so that they succeed without one."""
        self._session.control(
            "POST", "faults", service=_options.one("service", service), entity=_options.one("entity", entity), operation=_options.one("operation", operation), after=after or None, lost=lost or None,
            error=error, status=status, times=None if times is None else _options.whole("times", times), latency=span_text(latency) if latency is not None else None,
        )

    def fail_output(self, function: str, *, times: int = 1, error: str = "") -> None:
        """Makes the next writes of a function's outputs fail."""
        self._session.control("PUT", "outputs/fault", encoded(error), name=_options.named("function", function), times=times if times == -1 else _options.whole("times", times))

    def expire_locks(self, path: str) -> None:
        """Ends the locks of an entity of Service Bus, as if their time were over."""
        self._session.verb("POST", "expire-locks", {"entity": _options.named("path", path)})

    def crash(self) -> None:
        """Ends the host as a power failure does. The data stays, and the test goes on."""
        self._session.verb("POST", "crash", {})

    def crash_at(self, function: str, point: str, nth: int = 1) -> None:
        """Has the host crash at a point of a function's deliveries: afterReceive,
        beforeHandler, afterHandler, betweenAttempts, beforeSettle, afterSettle,
        afterCheckpoint."""
        self._session.verb("POST", "crash", {"function": _options.named("function", function), "point": _options.named("point", point), "nth": _options.whole("nth", nth)})

    def start_again(self) -> None:
        """Starts a host that has crashed, after moving time to the crash that was asked for."""
        self._session.verb("POST", "start")

    def restart(self) -> None:
        """Stops the host as Ctrl+C does, and starts it again."""
        self._session.verb("POST", "restart")

    def scale_out(self) -> None:
        """Starts another instance beside this one; the option instances has to be set."""
        self._session.verb("POST", "instances")

    # State.

    def save(self) -> bytes:
        """The data of all services."""
        status, _headers, body = self._session.raw("GET", self._session.path("admin/redeliver/state"))
        if status >= 400:
            raise KitError(body.decode("utf-8", "replace").strip())
        return body

    def load(self, state: bytes) -> None:
        """Takes the data that save() gave."""
        self._session.control("PUT", "state", encoded(state))

    def reset(self) -> None:
        """A new host under this one: data, clock, identifiers and journal begin anew."""
        self._session.close()
        self._session = Session(self._options.handlers(), self._options.seconds)
        self._session.open(self._options.sent())

    # Places, for clients with sockets of their own: the option ports has to be set.

    def connection_string(self, service: str) -> str:
        """The connection string of storage, servicebus or eventhubs; the address of blobs,
        queues or eventgrid."""
        given = self._session.info.get("connections")
        if not given:
            raise KitError("the host has no places for clients", "no_ports", "start it with ports=True")
        if service not in PLACES:
            raise KitError(f"there is no place for {service!r}: want one of {', '.join(PLACES)}", "no_service")
        return str(given[PLACES[service]])

    @property
    def seed(self) -> int:
        """The seed of the host: with it all happens again."""
        return int(self._session.info.get("seed", self._options.seed))

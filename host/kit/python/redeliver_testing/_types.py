"""What the kit answers with, and what its options are made of."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

Span = Union[timedelta, str]
"""A time span: a timedelta, or text as in scenarios: "30s", "2d", "00:15:00"."""

Json = Any
"""What json.loads gives, or what json.dumps takes."""


class Failure(AssertionError):
    """What was expected has not happened. The text says what has, with the timeline."""


class KitError(Exception):
    """The kit refused a call. code is a word for programs, hint says what helps."""

    def __init__(self, text: str, code: str = "", hint: str = "") -> None:
        super().__init__(f"{text}\n{hint}" if hint else text)
        self.code = code
        self.hint = hint


class KitTimeout(KitError):
    """A call, or a handler, took longer than the real limit of the host."""

    def __init__(self, text: str = "the handler has run for longer than the limit of its host") -> None:
        super().__init__(text, "timeout")


@dataclass(frozen=True)
class Problem:
    """Why an attempt failed."""

    type: str
    message: str
    stack: str


@dataclass(frozen=True)
class Attempt:
    """One call of a handler, or of a script."""

    function: str
    message_id: Optional[str]
    invocation_id: str
    delivery: int
    """Counts the deliveries of the message, from 1."""
    delivery_count: int
    """What the service has counted."""
    attempt: int
    """Within the delivery, from 1."""
    retry_count: int
    max_retry_count: Optional[int]
    """None without a policy, -1 for ever."""
    started: datetime
    ended: Optional[datetime]
    """None while it runs. Both are virtual."""
    took: timedelta
    """The real time."""
    status: str
    """running, succeeded, failed, timed_out, lost."""
    error: Optional[Problem]
    decision: Optional[str]
    """Of a failed one: retry, exhausted, permanent, cancelled."""
    next_delay: Optional[timedelta]
    logs: Sequence[str] = ()
    settled: Optional[str] = None
    """How the delivery was settled, of its last attempt."""
    delivery_id: str = ""
    """Of the journal; after a restart the names begin anew."""


@dataclass(frozen=True)
class Message:
    """A message as it lies in a queue, a topic's subscription or a dead-letter queue."""

    id: str
    body: bytes
    delivery_count: int
    enqueued: Optional[datetime] = None
    state: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    """Why it is a dead letter, with description and source."""
    description: str = ""
    source: str = ""
    last_error: str = ""
    """Of a poison message: the last failure of its handler."""

    def text(self) -> str:
        return self.body.decode("utf-8")

    def json(self) -> Json:
        return json.loads(self.body)


@dataclass(frozen=True)
class Response:
    """The answer to a request or a call."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def text(self) -> str:
        return self.body.decode("utf-8")

    def json(self) -> Json:
        return json.loads(self.body)


class Record(Dict[str, Any]):
    """A record of the journal: its members by their names, as in docs/journal."""

    @property
    def seq(self) -> int:
        return int(self["seq"])

    @property
    def kind(self) -> str:
        return str(self["kind"])

    @property
    def time(self) -> datetime:
        return moment(self["time"])


Handler = Callable[..., Any]
Function = Mapping[str, Any]
"""A function as in a scenario: trigger, outputs, retry, and handler, which may be a Python
function, sync or async."""


def moment(text: str) -> datetime:
    """A time of the program, to the microsecond."""
    whole, _, rest = text.rstrip("Z").partition(".")
    at = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return at + timedelta(microseconds=int((rest + "000000")[:6]))


def maybe_moment(text: Optional[str]) -> Optional[datetime]:
    return moment(text) if text else None


def span_text(span: Span) -> str:
    """A span as the program reads it."""
    if isinstance(span, timedelta):
        return f"{span.total_seconds():.6f}s"
    if isinstance(span, str):
        return span
    raise TypeError(f"a time span is a timedelta or text such as '30s', and not {span!r}")


def span_seconds(given: Union[Span, float]) -> float:
    """The seconds that a handler sleeps. Numbers are seconds, as for time.sleep."""
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given)
    text = span_text(given)  # type: ignore[arg-type]
    clock = re.fullmatch(r"(?:(\d+)\.)?(\d+):(\d\d):(\d\d(?:\.\d+)?)", text)
    if clock:
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if not re.fullmatch(r"(?:[\d.]+(?:ms|[dhms]))+", text):
        raise TypeError(f"a time span is a timedelta or text such as '30s', and not {given!r}")
    return sum(float(number) * {**UNITS, "d": 86400.0}[unit] for number, unit in re.findall(r"([\d.]+)(ms|[dhms])", text))


UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def span(text: Optional[str]) -> Optional[timedelta]:
    """A span of the program, such as "1m30s"."""
    if not text:
        return None
    return timedelta(seconds=sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+)(h|ms|µs|ns|m|s)", text)))


def encoded(body: Any) -> bytes:
    """A body as it travels: bytes and text as they are, all else as JSON."""
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    if isinstance(body, str):
        return body.encode("utf-8")
    if body is None:
        raise TypeError('the body is None: JSON\'s null is the text "null"')
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")


def data(shown: Mapping[str, Any]) -> bytes:
    """The body of what is shown in JSON: text, or Base64."""
    if shown.get("data"):
        return base64.b64decode(shown["data"])
    if shown.get("binary"):
        return base64.b64decode(shown["binary"])
    return str(shown.get("body") or "").encode("utf-8")


def attempt(told: Mapping[str, Any]) -> Attempt:
    error = told.get("error")
    maximum = told.get("maxRetryCount")
    return Attempt(
        function=told["function"], message_id=told.get("messageId"), invocation_id=told.get("invocationId") or "",
        delivery=int(told.get("delivery") or 0), delivery_count=int(told.get("deliveryCount") or 0),
        attempt=int(told.get("attempt") or 0), retry_count=int(told.get("retryCount") or 0),
        max_retry_count=None if maximum is None else int(maximum),
        started=moment(told["started"]), ended=maybe_moment(told.get("ended")), took=timedelta(milliseconds=float(told.get("tookMs") or 0)),
        status=told.get("status") or "", decision=told.get("decision") or None, next_delay=span(told.get("nextDelay")),
        error=Problem(error.get("type") or "", error.get("message") or "", error.get("stack") or "") if error else None,
        logs=tuple(line["text"] for line in told.get("logs") or ()), settled=told.get("settled") or None, delivery_id=told.get("deliveryId") or "",
    )


def queue_message(told: Mapping[str, Any]) -> Message:
    return Message(
        id=told.get("id") or "", body=data(told), delivery_count=int(told.get("dequeueCount") or 0),
        enqueued=maybe_moment(told.get("inserted")), last_error=told.get("lastError") or "",
    )


def bus_message(told: Mapping[str, Any]) -> Message:
    return Message(
        id=told.get("messageId") or "", body=data(told), delivery_count=int(told.get("failedDeliveries") or 0),
        enqueued=maybe_moment(told.get("enqueued")), state=told.get("state") or "", properties=told.get("properties") or {},
        reason=told.get("deadLetterReason") or "", description=told.get("deadLetterDescription") or "",
        source=told.get("deadLetterSource") or "",
    )


def listed(one: Union[str, Sequence[str], None]) -> List[str]:
    if one is None:
        return []
    return [one] if isinstance(one, str) else list(one)

"""What a function finds in its parameter "context", and its outputs."""

from dataclasses import dataclass, field

from . import logs


@dataclass(frozen=True)
class RpcException:
    """The failure of the attempt before this one; empty texts when there was none."""

    message: str = ""
    stack_trace: str = ""
    source: str = ""


@dataclass(frozen=True)
class RetryContext:
    """Which attempt this is. Zeroes when no retry policy applies."""

    retry_count: int = 0
    max_retry_count: int = 0
    rpc_exception: RpcException = field(default_factory=RpcException)

    @property
    def exception(self):
        return self.rpc_exception

    @classmethod
    def of(cls, message):
        message = message or {}
        error = message.get("exception") or {}
        return cls(
            int(message.get("retryCount") or 0),
            int(message.get("maxRetryCount") or 0),
            RpcException(error.get("message") or "", error.get("stackTrace") or "", error.get("source") or ""),
        )


@dataclass(frozen=True)
class TraceContext:
    """The W3C trace that the invocation is part of, empty texts for none."""

    trace_parent: str = ""
    trace_state: str = ""
    attributes: dict = field(default_factory=dict)

    # The names of earlier versions.
    Traceparent = property(lambda self: self.trace_parent)
    Tracestate = property(lambda self: self.trace_state)
    Attributes = property(lambda self: self.attributes)

    @classmethod
    def of(cls, message):
        message = message or {}
        return cls(message.get("traceParent") or "", message.get("traceState") or "", dict(message.get("attributes") or {}))


class Context:
    """One invocation, to the function."""

    def __init__(self, function, request):
        self.invocation_id = str(request.get("invocationId") or "")
        self.function_name = function.name
        self.function_directory = function.directory
        self.thread_local_storage = logs.local
        self.trace_context = TraceContext.of(request.get("traceContext"))
        self.retry_context = RetryContext.of(request.get("retryContext"))


class Out:
    """An output that the function sets."""

    def __init__(self):
        self._value = None

    def set(self, val):
        self._value = val

    def get(self):
        return self._value

"""Handlers that say what they were given."""

import json
import typing

import azure.functions as func


def plain(value):
    return value.isoformat() if hasattr(value, "isoformat") else value


def main(msg: func.QueueMessage) -> str:
    return json.dumps([type(msg).__name__, msg.get_body().decode(), msg.id, msg.dequeue_count, plain(msg.insertion_time), msg.pop_receipt])


def text(msg: str) -> str:
    return json.dumps([type(msg).__name__, msg])


def octets(msg: bytes) -> str:
    return json.dumps([type(msg).__name__, list(msg)])


def bare(msg) -> str:
    return json.dumps([type(msg).__name__, msg.get_body().decode()])


def generic(value):
    return json.dumps([type(value).__name__, value])


def timer(timer: func.TimerRequest) -> str:
    return json.dumps([timer.past_due, timer.schedule, timer.schedule_status])


def request(req: func.HttpRequest) -> str:
    return json.dumps([req.method, req.url, req.headers["X-One"], dict(req.params), dict(req.route_params), req.get_body().decode()])


def request_json(req: func.HttpRequest) -> str:
    return json.dumps(req.get_json()["deep"])


def bus(msg: func.ServiceBusMessage) -> str:
    return json.dumps([msg.get_body().decode(), msg.message_id, msg.delivery_count, msg.user_properties, plain(msg.enqueued_time_utc)])


def bus_batch(msgs: typing.List[func.ServiceBusMessage]) -> str:
    return json.dumps([[msg.get_body().decode(), msg.message_id, msg.user_properties] for msg in msgs])


def hub(event: func.EventHubEvent) -> str:
    return json.dumps([event.get_body().decode(), event.sequence_number, event.partition_key])


def hub_batch(events: typing.List[func.EventHubEvent]) -> str:
    return json.dumps([[bytes(event.get_body()).decode(), event.sequence_number, event.partition_key] for event in events])


def grid(event: func.EventGridEvent) -> str:
    return json.dumps([event.id, event.subject, event.event_type, plain(event.event_time), event.get_json()])


def blob(blob: func.InputStream) -> str:
    return json.dumps(None if blob is None else [blob.read().decode(), blob.name, blob.uri, blob.length])


def blob_bytes(blob: bytes) -> str:
    return json.dumps([type(blob).__name__, blob.decode()])


def cosmos(docs: func.DocumentList) -> str:
    return json.dumps([dict(doc) for doc in docs])


def context(msg: str, context: func.Context) -> str:
    retry = context.retry_context
    return json.dumps([
        context.invocation_id, context.function_name, context.function_directory.rpartition("/")[2], context.trace_context.trace_parent,
        retry.retry_count, retry.max_retry_count, retry.rpc_exception.message, retry.exception.stack_trace,
    ])


# What functions give.
def give(kind: str):
    return deep() if kind == "deep" else {
        "text": "é", "bytes": b"\x00\xff", "int": 7, "bool": True, "float": 1.5, "dict": {"a": 1}, "list": [1, "b"], "none": None,
        "huge": 1 << 70, "nan": {"a": float("nan")}, "infinite": float("inf"), "half": "\ud800", "set": {1},
    }[kind]


def deep():
    out = []
    for _ in range(100000):
        out = [out]
    return out


def set_out(kind: str, out: func.Out[str]) -> None:
    out.set(give(kind))


def set_queue(kind: str, out: func.Out[typing.List[str]]) -> None:
    if kind != "nothing":
        out.set(["one", "two"])


def unbound(msg: str):
    return "unbound"


def response(req: func.HttpRequest) -> func.HttpResponse:
    answer = func.HttpResponse("hello é", status_code=202, headers={"X-Two": "2"})
    answer.headers.add("Set-Cookie", "a=b; Path=/x; Max-Age=0; Secure; HttpOnly; SameSite=Lax; Expires=Wed, 21 Oct 2037 07:28:00 GMT")
    answer.headers.add("Set-Cookie", "c=d")
    answer.headers.add("X-Two", "3")  # the last one counts
    return answer


def response_json(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse(b'{"a":1}', mimetype="application/json")


def response_none(req: func.HttpRequest) -> func.HttpResponse:
    return None

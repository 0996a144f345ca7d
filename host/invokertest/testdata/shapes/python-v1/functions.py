import json
import logging
import typing

import azure.functions as func


def shape(v):
    """Tells what a value is."""
    kind = type(v).__name__
    if v is None:
        return "None"
    if isinstance(v, str):
        return "str " + v
    if isinstance(v, bytes):
        return "bytes " + v.hex()
    if kind == "InputStream":
        return kind + " " + v.read().hex()
    if kind == "HttpRequest":
        return kind + " " + v.method
    if kind == "TimerRequest":
        return f"{kind} {v.past_due}"
    if hasattr(v, "get_body"):
        body = v.get_body()
        try:
            return f"{kind} {json.loads(body)}"
        except ValueError:
            return kind + " " + body.hex()
    if hasattr(v, "get_json"):
        return f"{kind} {v.get_json()}"
    if kind == "Document":
        return kind + " " + ",".join(key for key in v.keys() if key[0] != "_")
    return "[" + ", ".join(shape(member) for member in v) + "]"


ANNOTATIONS = {kind: getattr(func, kind) for kind in (
    "DocumentList", "EventGridEvent", "EventHubEvent", "HttpRequest", "InputStream", "QueueMessage", "ServiceBusMessage", "TimerRequest")}
ANNOTATIONS.update({"str": str, "bytes": bytes})
for kind in ("EventHubEvent", "ServiceBusMessage"):
    ANNOTATIONS["List" + kind] = typing.List[ANNOTATIONS[kind]]


def teller(annotation):
    def tell(item):
        logging.info("shape: %s", shape(item))
    tell.__annotations__["item"] = ANNOTATIONS[annotation]
    return tell


def reader(annotation):
    def tell(on, item):
        logging.info("shape: %s", shape(item))
    tell.__annotations__.update({"on": func.QueueMessage, "item": ANNOTATIONS[annotation]})
    return tell


def write(item: func.QueueMessage, row: func.Out[str]):
    row.set(item.get_body().decode())


for kind in ANNOTATIONS:
    globals()["tell" + kind] = teller(kind)
    globals()["read" + kind] = reader(kind)

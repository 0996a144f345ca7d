import json
import logging
import pathlib
import re
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


INPUTS = {"blob": "blob_input", "cosmosDB": "cosmos_db_input", "table": "table_input"}
TRIGGERS = {
    "queueTrigger": "queue_trigger", "blobTrigger": "blob_trigger", "eventHubTrigger": "event_hub_message_trigger",
    "cosmosDBTrigger": "cosmos_db_trigger", "eventGridTrigger": "event_grid_trigger", "timerTrigger": "timer_trigger", "httpTrigger": "route",
}

def writer(item: func.QueueMessage, row: func.Out[str]):
    row.set(item.get_body().decode())


app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


def arguments(binding):
    """The properties of a binding, as the decorators name them."""
    return {re.sub("([A-Z])", r"_\1", name).lower(): value for name, value in binding.items() if name != "type"}


for row in json.loads((pathlib.Path(__file__).parent / "shapes.json").read_text()):
    trigger = row["on"] or row["item"]
    given = arguments(trigger)
    tell = (reader if row["on"] else teller)(row["annotation"])
    decorator = TRIGGERS.get(trigger["type"]) or ("service_bus_topic_trigger" if "topic_name" in given else "service_bus_queue_trigger")
    given["trigger_arg_name" if decorator == "route" else "arg_name"] = "on" if row["on"] else "item"
    if trigger["type"] == "eventGridTrigger" and "cardinality" in given:
        decorator, given = "generic_trigger", {"arg_name": "item", **trigger}
    if row["on"]:
        tell = getattr(app, INPUTS[row["item"]["type"]])(arg_name="item", **arguments(row["item"]))(tell)
    if row["out"]:
        tell = app.table_output(arg_name="row", **arguments(row["out"]))(writer)
    app.function_name(name=row["name"])(getattr(app, decorator)(**given)(tell))

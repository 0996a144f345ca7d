"""The calls of the samples of azure-eventgrid, how they fail, and a web hook that
reads what is delivered with EventGridEvent.from_json and CloudEvent.from_dict.

Usage: python3 eventgrid.py HTTPS_BASE HTTP_BASE KEY CONTROL
POST CONTROL/TOPIC/SUBSCRIPTION {"endpoint": URL, ...} subscribes a web hook.
"""
import sys

# The folder's queue.py must not stand in for the standard library's queue.
sys.path = [p for p in sys.path if not p.endswith("testdata/interop")]

import json
import queue
import threading
import urllib.request
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from azure.core.credentials import AccessToken, AzureKeyCredential, AzureSasCredential
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceNotFoundError, ServiceRequestError
from azure.core.messaging import CloudEvent
from azure.eventgrid import EventGridEvent, EventGridPublisherClient, generate_sas

base, plain, key, control = sys.argv[1:]
AT = datetime(2026, 7, 8, 9, 10, 11, 120000, tzinfo=timezone.utc)


def endpoint(topic, at=base):
    return f"{at}/{topic}/api/events"


def publisher(topic, credential=None, at=base):
    return EventGridPublisherClient(endpoint(topic, at), credential or AzureKeyCredential(key), retry_total=0)


def fails(kind, status, code, call, *args):
    try:
        call(*args)
    except kind as err:
        assert type(err) is kind, (kind, type(err))
        if err.error is None:  # the package puts a hint in its place
            err = err.__cause__
        assert (err.status_code, err.error.code) == (status, code), (status, code, err.status_code, err)
        return err
    raise AssertionError(f"want {code}")


class Hook:
    """A web hook: it answers the handshake, and keeps the requests."""

    def __init__(self):
        hook = self
        self.arrived = queue.Queue()
        self.handshakes = 0

        class Handler(BaseHTTPRequestHandler):
            def do_OPTIONS(self):
                hook.handshakes += 1
                self.send_response(200)
                self.send_header("WebHook-Allowed-Origin", self.headers["WebHook-Request-Origin"])
                self.end_headers()

            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                answer = b""
                if self.headers["aeg-event-type"] == "SubscriptionValidation":
                    hook.handshakes += 1
                    [event] = [EventGridEvent.from_dict(e) for e in json.loads(text)]
                    assert event.event_type == "Microsoft.EventGrid.SubscriptionValidationEvent", text
                    answer = json.dumps({"validationResponse": event.data["validationCode"]}).encode()
                else:
                    hook.arrived.put((dict(self.headers), json.loads(text)))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def subscribe(self, topic, name, **more):
        body = json.dumps({"endpoint": f"http://127.0.0.1:{self.server.server_port}/hook", **more}).encode()
        with urllib.request.urlopen(f"{control}/{topic}/{name}", body) as made:
            assert made.read() == b"Succeeded"
        assert self.handshakes == 1

    def next(self):
        return self.arrived.get(timeout=30)


def event_grid_schema():
    hook = Hook()
    hook.subscribe("orders", "python")
    orders = publisher("orders")
    sent = [
        EventGridEvent(id=f"py-{i}", subject=f"/orders/{i}", event_type="Shop.Ordered", data_version="2.1", event_time=AT, data=data)
        for i, data in enumerate([{"amount": 7, "deep": [1, "ä", None]}, "text"], 1)
    ]
    orders.send(sent)
    arrived = sorted([hook.next(), hook.next()], key=lambda a: a[1][0]["id"])
    for want, (headers, events) in zip(sent, arrived):
        [raw] = events
        event = EventGridEvent.from_json(json.dumps(raw))
        for field in ("id", "subject", "event_type", "data", "data_version", "event_time"):
            assert getattr(event, field) == getattr(want, field), (field, raw)
        assert event.topic.endswith("/providers/Microsoft.EventGrid/topics/orders") and event.metadata_version == "1", raw
        assert headers["Content-Type"] == "application/json; charset=utf-8", headers
        assert (headers["Aeg-Subscription-Name"], headers["Aeg-Event-Type"], headers["Aeg-Delivery-Count"]) == ("PYTHON", "Notification", "0"), headers
        assert (headers["Aeg-Data-Version"], headers["Aeg-Metadata-Version"]) == ("2.1", "1"), headers

    # What is left out is added by the package; a single event and dictionaries do too.
    orders.send(EventGridEvent("s", "t", 7, "1"))
    _, [raw] = hook.next()
    event = EventGridEvent.from_dict(raw)
    assert event.id and event.data == 7 and abs(event.event_time - datetime.now(timezone.utc)) < timedelta(minutes=1), raw
    orders.send({"id": "py-3", "subject": "s", "eventType": "t", "eventTime": AT.isoformat(), "data": {}})
    _, [raw] = hook.next()
    assert (raw["id"], raw["dataVersion"], raw["eventTime"]) == ("py-3", "", AT.isoformat()), raw


def cloud_events():
    hook = Hook()
    hook.subscribe("cloud", "python", maxEventsPerBatch=10)
    cloud = publisher("cloud")
    common = {"source": "/shop", "type": "Shop.Ordered", "time": AT}
    sent = [
        CloudEvent(id="py-object", subject="s", dataschema="https://shop/schema", datacontenttype="application/json",
                   data={"amount": 7}, extensions={"traceparent": "00-1-2-00", "number": 5}, **common),
        CloudEvent(id="py-text", data="grüße", **common),
        CloudEvent(id="py-bytes", datacontenttype="application/octet-stream", data=b"\x00\x01\xff", **common),
        CloudEvent(id="py-none", **common),
    ]
    cloud.send(sent)
    headers, raws = hook.next()
    assert headers["Content-Type"] == "application/cloudevents-batch+json; charset=utf-8", headers
    for want, raw in zip(sent, raws, strict=True):
        event = CloudEvent.from_dict(raw)
        for field in ("id", "source", "type", "specversion", "time", "subject", "dataschema", "datacontenttype", "data", "extensions"):
            assert getattr(event, field) == getattr(want, field), (field, raw)

    single = Hook()
    single.subscribe("cloud", "alone")
    cloud.send({"id": "py-single", "source": "/shop", "type": "t", "specversion": "1.0", "data": [1]})
    headers, raw = single.next()
    assert headers["Content-Type"] == "application/cloudevents+json; charset=utf-8", headers
    assert CloudEvent.from_dict(raw).data == [1], raw


class Anybody:
    """A credential of Entra ID that knows no directory."""

    def get_token(self, *scopes, **kwargs):
        return AccessToken("anybody", int(datetime.now().timestamp()) + 3600)


def credentials():
    event = EventGridEvent("s", "t", {}, "1")
    soon = datetime.now(timezone.utc) + timedelta(hours=1)

    def by_sas(topic, with_key, until):
        publisher("orders", AzureSasCredential(generate_sas(endpoint(topic), with_key, until))).send(event)

    by_sas("orders", key, soon)
    by_sas("orders", key, soon.replace(tzinfo=None))
    publisher("orders", Anybody()).send(event)
    publisher("orders", at=plain).send(event)  # azure-eventgrid sends a key to anybody
    try:
        publisher("orders", Anybody(), at=plain).send(event)
        raise AssertionError("a bearer token was sent over HTTP")
    except ServiceRequestError:
        pass

    denied = (ClientAuthenticationError, 401, "Unauthorized")
    fails(*denied, publisher("orders", AzureKeyCredential("d3Jvbmc=")).send, event)
    fails(*denied, by_sas, "orders", "d3Jvbmc=", soon)
    fails(*denied, by_sas, "cloud", key, soon)
    fails(*denied, by_sas, "orders", key, soon - timedelta(hours=1, minutes=1))
    fails(*denied, publisher("orders", AzureSasCredential("no token at all")).send, event)


def errors():
    bad = {"id": "py-bad", "subject": "s", "eventType": "t", "eventTime": AT.isoformat(), "data": {}, "dataVersion": "1"}
    orders = publisher("orders")
    fails(ResourceNotFoundError, 404, "ResourceNotFound", publisher("nowhere").send, bad)
    for field in ("id", "subject", "eventType", "eventTime"):
        rest = {k: v for k, v in bad.items() if k != field}
        err = fails(HttpResponseError, 400, "BadRequest", orders.send, [bad, rest])
        assert f"event 1: the field {field} is missing" in err.message, err
    fails(HttpResponseError, 400, "BadRequest", orders.send, {**bad, "topic": "t"})
    fails(HttpResponseError, 400, "BadRequest", orders.send, {**bad, "metadataVersion": "2"})
    fails(HttpResponseError, 400, "BadRequest", orders.send, CloudEvent("/s", "t"))
    fails(HttpResponseError, 400, "BadRequest", publisher("cloud").send, bad)
    fails(HttpResponseError, 413, "PayloadTooLarge", orders.send, {**bad, "data": "x" * 1_050_000})
    fails(HttpResponseError, 413, "PayloadTooLarge", orders.send, [{**bad, "data": "x" * 60_000}] * 60)


event_grid_schema()
cloud_events()
credentials()
errors()
print("ok")

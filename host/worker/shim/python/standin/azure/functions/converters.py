"""From values as they travel to what functions get, and back. Each converter stands for
the bindings that its registration names."""

import collections.abc
import datetime
import json
import re
import typing
from http.cookies import SimpleCookie

from . import messages, web


class Datum:
    def __init__(self, value, type):
        self.value, self.type = value, type


class Registry:
    """The converters by the type of their bindings."""

    def __init__(self):
        self._converters = {}

    def get(self, binding_type):
        return self._converters.get(binding_type)


registry = Registry()


def get_binding_registry():
    return registry


def of(*bindings, trigger=False):
    def register(cls):
        for name in bindings:
            registry._converters[name] = cls(trigger)
        return cls

    return register


class Converter:
    """Has the types that annotations may name, for each way; () for a way that it does
    not have."""

    takes = gives = ()

    def __init__(self, trigger):
        self._trigger = trigger

    def has_trigger_support(self):
        return self._trigger

    def has_implicit_output(self):
        return False

    def check_input_type_annotation(self, pytype):
        return fits(pytype, self.takes)

    def check_output_type_annotation(self, pytype):
        return fits(pytype, self.gives)

    def decode(self, data, *, trigger_metadata):
        raise NotImplementedError

    def encode(self, obj, *, expected_type):
        raise NotImplementedError


def fits(pytype, allowed):
    if isinstance(typing.get_origin(pytype), type) and issubclass(typing.get_origin(pytype), collections.abc.Iterable):
        return any(isinstance(arg, type) and issubclass(arg, allowed) for arg in typing.get_args(pytype))
    return isinstance(pytype, type) and issubclass(pytype, allowed)


def simple(obj):
    """Text and bytes as they are."""
    if isinstance(obj, str):
        return Datum(obj, "string")
    if isinstance(obj, (bytes, bytearray)):
        return Datum(bytes(obj), "bytes")
    raise NotImplementedError


def body_of(data, kinds=("string", "bytes", "json")):
    if data is None:
        return b""
    if data.type not in kinds:
        raise NotImplementedError
    return data.value


def field(metadata, name, make=None):
    """A value of the trigger's metadata."""
    datum = (metadata or {}).get(name)
    value = None if datum is None else json.loads(datum.value) if datum.type == "json" else datum.value
    return value if value is None or make is None else make(value)


def moment(value):
    """A time, in UTC where the text says its zone."""
    if not value:
        return None
    match = re.fullmatch(r"(.{10})[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?\s*(Z|[+-]\d\d:\d\d)?", str(value))
    if not match:
        raise ValueError(f"{value!r} is no time")
    day, clock, fraction, zone = match.groups()
    if "/" in day:
        month, dom, year = day.split("/")
        day = f"{year}-{month}-{dom}"
    when = datetime.datetime.fromisoformat(f"{day}T{clock}.{(fraction or '')[:6]:0<6}" + ("+00:00" if zone == "Z" else zone or ""))
    return when.astimezone(datetime.timezone.utc) if when.tzinfo else when


def span(value):
    if not value:
        return None
    parts = [float(part) for part in str(value).split(":")]
    return datetime.timedelta(seconds=sum(part * unit for part, unit in zip(reversed(parts), (1, 60, 3600))))


@of("httpTrigger", trigger=True)
class Request(Converter):
    takes = (web.HttpRequest,)

    def decode(self, data, *, trigger_metadata):
        if data is None or data.type != "http":
            raise NotImplementedError
        value = data.value

        def texts(name):
            return {key: datum.value for key, datum in value[name].items()}

        return web.HttpRequest(
            value["method"].value, value["url"].value, headers=texts("headers"), params=texts("query"),
            route_params=texts("params"), body=value["body"].value,
        )


@of("http")
class Response(Converter):
    gives = (web.HttpResponse, str)

    def encode(self, obj, *, expected_type):
        if isinstance(obj, str):
            return Datum(obj, "string")
        if not isinstance(obj, web.HttpResponse):
            raise NotImplementedError
        headers = {name: obj.headers.get_all(name)[-1] for name in obj.headers if name != "set-cookie"}  # as the package does
        charset = f"; charset={obj.charset}" if obj.mimetype.startswith("text/") else ""
        headers.setdefault("content-type", obj.mimetype + charset)
        return Datum({
            "status_code": Datum(str(obj.status_code), "string"),
            "headers": {name: Datum(value, "string") for name, value in headers.items()},
            "cookies": [SimpleCookie(text) for text in obj.headers.get_all("set-cookie")],
            "body": Datum(obj.get_body(), "bytes"),
        }, "http")


@of("queueTrigger", trigger=True)
class QueueIn(Converter):
    takes = (messages.QueueMessage,)

    def decode(self, data, *, trigger_metadata):
        return messages.QueueMessage(
            body=body_of(data, ("string", "bytes")), id=field(trigger_metadata, "Id", str),
            dequeue_count=field(trigger_metadata, "DequeueCount", int), pop_receipt=field(trigger_metadata, "PopReceipt", str),
            expiration_time=field(trigger_metadata, "ExpirationTime", moment),
            insertion_time=field(trigger_metadata, "InsertionTime", moment),
            time_next_visible=field(trigger_metadata, "NextVisibleTime", moment),
        )


@of("queue")
class QueueOut(Converter):
    gives = (messages.QueueMessage, str, bytes)

    def encode(self, obj, *, expected_type):
        if isinstance(obj, (str, bytes)):
            return simple(obj)
        if isinstance(obj, messages.QueueMessage):
            return Datum(json.dumps(self._plain(obj)), "json")
        if isinstance(obj, collections.abc.Iterable):
            return Datum(json.dumps([self._plain(item) for item in obj]), "json")
        raise NotImplementedError

    @staticmethod
    def _plain(item):
        if isinstance(item, messages.QueueMessage):
            return {"id": item.id, "body": item.get_body().decode("utf-8")}
        if not isinstance(item, str):
            raise NotImplementedError(f"a {type(item).__name__} is no queue message")
        return item


SERVICE_BUS = {
    "message_id": ("MessageId", str), "application_properties": ("ApplicationProperties", None), "content_type": ("ContentType", str),
    "correlation_id": ("CorrelationId", str), "dead_letter_error_description": ("DeadLetterErrorDescription", str),
    "dead_letter_reason": ("DeadLetterReason", str), "dead_letter_source": ("DeadLetterSource", str),
    "delivery_count": ("DeliveryCount", int), "enqueued_sequence_number": ("EnqueuedSequenceNumber", int),
    "enqueued_time_utc": ("EnqueuedTimeUtc", moment), "expires_at_utc": ("ExpiresAtUtc", moment), "label": ("Label", str),
    "locked_until": ("LockedUntil", moment), "lock_token": ("LockToken", str), "partition_key": ("PartitionKey", str),
    "reply_to": ("ReplyTo", str), "reply_to_session_id": ("ReplyToSessionId", str),
    "scheduled_enqueue_time_utc": ("ScheduledEnqueueTimeUtc", moment), "sequence_number": ("SequenceNumber", int),
    "session_id": ("SessionId", str), "state": ("State", int), "subject": ("Subject", str), "time_to_live": ("TimeToLive", span),
    "to": ("To", str), "transaction_partition_key": ("TransactionPartitionKey", str), "user_properties": ("UserProperties", None),
}


def bodies(data):
    """The bodies of a batch."""
    if data is None:
        return []
    if data.type == "collection_bytes":
        return data.value.bytes
    if data.type == "collection_string":
        return data.value.string
    if data.type == "json":
        return [json.dumps(item) for item in json.loads(data.value)]
    raise NotImplementedError


def python(metadata):
    return {name: datum and datum.python_value for name, datum in (metadata or {}).items()}


@of("serviceBusTrigger", trigger=True)
class ServiceBus(Converter):
    takes = (messages.ServiceBusMessage,)

    def decode(self, data, *, trigger_metadata):
        every = python(trigger_metadata)
        if "UserPropertiesArray" not in trigger_metadata:
            return messages.ServiceBusMessage(
                body=body_of(data), metadata=every, **{name: field(trigger_metadata, key, make) for name, (key, make) in SERVICE_BUS.items()}
            )
        lists = {name: (field(trigger_metadata, key + "Array") or [], make) for name, (key, make) in SERVICE_BUS.items()}
        return [
            messages.ServiceBusMessage(body=body, metadata=every, **{name: at(values, i, make) for name, (values, make) in lists.items()})
            for i, body in enumerate(bodies(data))
        ]


def at(values, i, make):
    value = values[i] if i < len(values) else None
    return value if value is None or make is None else make(value)


@of("serviceBus")
class ServiceBusOut(Converter):
    gives = (str, bytes)

    def encode(self, obj, *, expected_type):
        return simple(obj)


EVENT_HUB = {
    "sequence_number": ("SequenceNumber", int), "enqueued_time": ("EnqueuedTimeUtc", moment),
    "partition_key": ("PartitionKey", str), "offset": ("Offset", str),
}


@of("eventHubTrigger", trigger=True)
class EventHub(Converter):
    takes = (messages.EventHubEvent,)

    def decode(self, data, *, trigger_metadata):
        every = python(trigger_metadata)
        if "SystemPropertiesArray" not in trigger_metadata:
            return messages.EventHubEvent(
                body=body_of(data), metadata=every, iothub_metadata={},
                **{name: field(trigger_metadata, key, make) for name, (key, make) in EVENT_HUB.items()},
            )
        system = field(trigger_metadata, "SystemPropertiesArray")
        return [
            messages.EventHubEvent(
                body=body, metadata=every, iothub_metadata={},
                **{name: at([properties.get(key)], 0, make) for name, (key, make) in EVENT_HUB.items()},
            )
            for body, properties in zip(bodies(data), system)
        ]


@of("eventHub")
class EventHubOut(Converter):
    takes, gives = (messages.EventHubEvent,), (str, bytes)

    def encode(self, obj, *, expected_type):
        return Datum(json.dumps(obj), "json") if isinstance(obj, list) else simple(obj)


@of("eventGridTrigger", trigger=True)
class EventGrid(Converter):
    takes = (messages.EventGridEvent,)

    def decode(self, data, *, trigger_metadata):
        if data is None or data.type != "json":
            raise NotImplementedError
        event = json.loads(data.value)
        return messages.EventGridEvent(
            id=event.get("id"), topic=event.get("topic"), subject=event.get("subject"), event_type=event.get("eventType"),
            event_time=moment(event.get("eventTime")), data=event.get("data"), data_version=event.get("dataVersion"),
        )


@of("eventGrid")
class EventGridOut(Converter):
    gives = (str, bytes, messages.EventGridOutputEvent)

    def encode(self, obj, *, expected_type):
        if isinstance(obj, (str, bytes)):
            return simple(obj)
        many = isinstance(obj, collections.abc.Iterable)
        plain = [self._plain(item) for item in (obj if many else [obj])]
        return Datum(json.dumps(plain if many else plain[0]), "json")

    @staticmethod
    def _plain(item):
        if isinstance(item, str):
            return item
        if not isinstance(item, messages.EventGridOutputEvent):
            raise NotImplementedError(f"a {type(item).__name__} is no event")
        return {
            "id": item.id, "subject": item.subject, "dataVersion": item.data_version, "eventType": item.event_type,
            "data": item.get_json(), "eventTime": item.event_time and item.event_time.isoformat(),
        }


class Blob(Converter):
    takes, gives = (messages.InputStream, bytes, str), (str, bytes, bytearray, messages.InputStream)

    def decode(self, data, *, trigger_metadata):
        if data is None:
            return None
        content = messages.octets(body_of(data, ("string", "bytes")))
        if not trigger_metadata:
            return messages.InputStream(data=content)
        properties = field(trigger_metadata, "Properties") or {}
        length = properties.get("ContentLength") or properties.get("Length")
        return messages.InputStream(
            data=content, name=field(trigger_metadata, "BlobTrigger", str), uri=field(trigger_metadata, "Uri", str),
            length=None if length is None else int(length), blob_properties=properties or None, metadata=field(trigger_metadata, "Metadata"),
        )

    def encode(self, obj, *, expected_type):
        return simple(obj.read() if callable(getattr(obj, "read", None)) else obj)


of("blob")(Blob)
of("blobTrigger", trigger=True)(Blob)


@of("timerTrigger", trigger=True)
class Timer(Converter):
    takes = (messages.TimerRequest,)

    def decode(self, data, *, trigger_metadata):
        if data is None or data.type != "json":
            raise NotImplementedError
        info = json.loads(data.value)
        return messages.TimerRequest(past_due=info.get("IsPastDue", False), schedule_status=info.get("ScheduleStatus"), schedule=info.get("Schedule"))


class Cosmos(Converter):
    takes, gives = (messages.DocumentList,), (messages.DocumentList, messages.Document)

    def decode(self, data, *, trigger_metadata):
        if data is None:
            return None
        documents = json.loads(body_of(data))
        return messages.DocumentList(
            document and messages.Document(document) for document in (documents if isinstance(documents, list) else [documents])
        )

    def encode(self, obj, *, expected_type):
        documents = [obj] if isinstance(obj, messages.Document) else obj
        if not isinstance(documents, collections.abc.Iterable) or not all(isinstance(d, messages.Document) for d in documents):
            raise NotImplementedError
        return Datum(json.dumps([dict(document) for document in documents]), "json")


of("cosmosDB")(Cosmos)
of("cosmosDBTrigger", trigger=True)(Cosmos)


@of("warmupTrigger", trigger=True)
class WarmUp(Converter):
    takes = (messages.WarmUpContext,)

    def decode(self, data, *, trigger_metadata):
        return messages.WarmUpContext()

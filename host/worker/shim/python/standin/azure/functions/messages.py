"""What triggers hand to functions, and what functions may give."""

import collections
import io
import json


def octets(body):
    return body.encode("utf-8") if isinstance(body, str) else bytes(body or b"")


class Message:
    """Something with a body, and the attributes that its class names."""

    _names = ()

    def __init__(self, *, body=b"", **attributes):
        unknown = set(attributes) - set(self._names)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        self._body = octets(body)
        for name in self._names:
            setattr(self, name, attributes.get(name))

    def get_body(self):
        return self._body

    def __repr__(self):
        return f"<azure.functions.{type(self).__name__} {self._names[0]}={getattr(self, self._names[0])} at 0x{id(self):0x}>"


class QueueMessage(Message):
    _names = ("id", "dequeue_count", "expiration_time", "insertion_time", "time_next_visible", "pop_receipt")

    def get_json(self):
        return json.loads(self._body)


class ServiceBusMessage(Message):
    _names = (
        "message_id", "application_properties", "content_type", "correlation_id", "dead_letter_error_description", "dead_letter_reason",
        "dead_letter_source", "delivery_count", "enqueued_sequence_number", "enqueued_time_utc", "expires_at_utc", "label",
        "locked_until", "lock_token", "partition_key", "reply_to", "reply_to_session_id", "scheduled_enqueue_time_utc",
        "sequence_number", "session_id", "state", "subject", "time_to_live", "to", "transaction_partition_key", "user_properties", "metadata",
    )

    @property
    def expiration_time(self):
        return self.expires_at_utc

    @property
    def scheduled_enqueue_time(self):
        return self.scheduled_enqueue_time_utc


class EventHubEvent(Message):
    _names = ("sequence_number", "enqueued_time", "partition_key", "offset", "iothub_metadata", "metadata")


class EventGridEvent:
    """An event in the schema of Event Grid."""

    def __init__(self, *, id, data, topic, subject, event_type, event_time, data_version):
        self.id, self.topic, self.subject = id, topic, subject
        self.event_type, self.event_time, self.data_version = event_type, event_time, data_version
        self._data = data

    def get_json(self):
        return self._data


class EventGridOutputEvent(EventGridEvent):
    """An event that a function gives: its topic is that of the binding."""

    def __init__(self, *, id, data, subject, event_type, event_time, data_version):
        super().__init__(id=id, data=data, topic=None, subject=subject, event_type=event_type, event_time=event_time, data_version=data_version)


class InputStream(io.BytesIO):
    """A blob. It is read once, from its beginning."""

    def __init__(self, *, data=b"", name=None, uri=None, length=None, blob_properties=None, metadata=None):
        super().__init__(data)
        self.name, self.uri, self.length = name, uri, length
        self.blob_properties, self.metadata = blob_properties, metadata

    def seekable(self):
        return False

    def writable(self):
        return False


class TimerRequest:
    def __init__(self, *, past_due=False, schedule_status=None, schedule=None):
        self.past_due, self.schedule_status, self.schedule = past_due, schedule_status or {}, schedule or {}


class WarmUpContext:
    """What a warm-up trigger gives: nothing."""


class Document(collections.UserDict):
    """A document of Cosmos DB."""

    @classmethod
    def from_json(cls, text):
        return cls(json.loads(text))

    @classmethod
    def from_dict(cls, data):
        return cls(data)

    def to_json(self):
        return json.dumps(self.data)

    def to_dict(self):
        return self.data


class DocumentList(collections.UserList):
    """Documents of Cosmos DB."""

"""What the samples of azure-servicebus do, and what its users trip over.

Usage: python3 servicebus.py CONNECTION_STRING
Without UseDevelopmentEmulator in the string the client comes over TLS, to the
address in SERVICEBUS_TLS (by itself it knows port 5671 only), and trusts the file
in SERVICEBUS_TRUST.
"""
import asyncio
import datetime
import os
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

from azure.servicebus import (AutoLockRenewer, NEXT_AVAILABLE_SESSION, ServiceBusClient, ServiceBusMessage, ServiceBusMessageState,
                              ServiceBusReceiveMode, ServiceBusSubQueue, TransportType)
from azure.servicebus.aio import ServiceBusClient as AsyncClient
from azure.servicebus.exceptions import (MessageAlreadySettled, MessageLockLostError, MessageSizeExceededError, OperationTimeoutError,
                                         ServiceBusAuthenticationError,
                                         ServiceBusConnectionError, ServiceBusError, SessionCannotBeLockedError)

CONNECTION = sys.argv[1]
OPTIONS = {"retry_total": 0}
if "UseDevelopmentEmulator" not in CONNECTION:
    OPTIONS["connection_verify"] = os.environ["SERVICEBUS_TRUST"]
    OPTIONS["transport_type"] = TransportType.Amqp  # with an address of its own it would rather use WebSockets
    OPTIONS["custom_endpoint_address"] = os.environ["SERVICEBUS_TLS"]


def fails(kind, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind:
        return
    raise AssertionError(f"want {kind}")


def text(message):
    return b"".join(message.body).decode()


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def one(receiver):
    messages = receiver.receive_messages(max_message_count=1, max_wait_time=10)
    assert len(messages) == 1, messages
    return messages[0]


def take(receiver, n):
    got = []
    while len(got) < n:
        more = receiver.receive_messages(max_message_count=n - len(got), max_wait_time=10)
        assert more, got
        got += more
    return got


# send_queue.py, receive_queue.py, receive_peek.py, receive_iterator_queue.py
def send_and_receive(client):
    with client.get_queue_sender("py-basic") as sender, client.get_queue_receiver("py-basic") as receiver:
        sender.send_messages(ServiceBusMessage("Single Message"))
        sender.send_messages([ServiceBusMessage(f"Message in list {i}") for i in range(3)])
        batch = sender.create_message_batch()
        assert batch.max_size_in_bytes == 262144, batch.max_size_in_bytes
        for i in range(4):
            batch.add_message(ServiceBusMessage(f"Message inside a batch {i}"))
        sender.send_messages(batch)
        fails(MessageSizeExceededError, sender.send_messages, ServiceBusMessage("x" * 262145))
        sender.send_messages(ServiceBusMessage("last"))

        peeked = [text(m) for m in receiver.peek_messages(max_message_count=2)]
        assert peeked == ["Single Message", "Message in list 0"], peeked
        got = take(receiver, 9)
        assert text(got[0]) == "Single Message" and text(got[8]) == "last"
        numbers = [m.sequence_number for m in got]
        assert numbers == sorted(numbers)
        for m in got:
            assert m.delivery_count == 0  # the raw header: .NET and Go say 1
            assert isinstance(m.lock_token, uuid.UUID) and m.locked_until_utc > now()
            assert m.enqueued_time_utc <= m.locked_until_utc
            receiver.complete_message(m)
        fails((MessageAlreadySettled, ValueError), receiver.complete_message, got[0])
        assert receiver.receive_messages(max_wait_time=0.3) == []
        sender.send_messages([ServiceBusMessage("i1"), ServiceBusMessage("i2")])
    with client.get_queue_receiver("py-basic", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE, max_wait_time=1, prefetch_count=10) as receiver:
        assert [text(m) for m in receiver] == ["i1", "i2"]
    # What it makes of a claim that finds nothing, by when it hears of that.
    fails((ServiceBusAuthenticationError, ServiceBusConnectionError), client.get_queue_sender("py-nobody").__enter__)


def fields(client):
    when = datetime.datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=datetime.timezone.utc)
    properties = {"s": "grüße", "i": 5, "f": 1.5, "b": True, "u": uuid.UUID(int=7), "d": when, "n": None}
    with client.get_queue_sender("py-fields") as sender, client.get_queue_receiver("py-fields") as receiver:
        sender.send_messages(ServiceBusMessage(
            b"\x00\x01\xff", application_properties=properties, session_id="pk", message_id="id", partition_key="pk",
            time_to_live=datetime.timedelta(minutes=1), content_type="text/plain", correlation_id="c", subject="label",
            to="to", reply_to="rt", reply_to_session_id="rs"))
        m = one(receiver)
        got = (m.session_id, m.message_id, m.partition_key, m.time_to_live, m.content_type, m.correlation_id, m.subject, m.to, m.reply_to, m.reply_to_session_id)
        assert got == ("pk", "id", "pk", datetime.timedelta(minutes=1), "text/plain", "c", "label", "to", "rt", "rs"), got
        assert b"".join(m.body) == b"\x00\x01\xff"
        plain = {k.decode(): v.decode() if isinstance(v, bytes) else v for k, v in m.application_properties.items()}
        plain["d"] = plain["d"] if isinstance(plain["d"], datetime.datetime) else datetime.datetime.fromtimestamp(plain["d"] / 1000, datetime.timezone.utc)
        assert plain == properties, plain
        assert m.expires_at_utc - m.enqueued_time_utc == datetime.timedelta(minutes=1)
        receiver.complete_message(m)


# receive_deferred_message_queue.py, receive_deadlettered_messages.py
def settlements(client):
    with client.get_queue_sender("py-settle") as sender, client.get_queue_receiver("py-settle") as receiver, \
            client.get_queue_receiver("py-settle", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as dead:
        sender.send_messages(ServiceBusMessage("x"))
        receiver.abandon_message(one(receiver))
        m = one(receiver)
        assert m.delivery_count == 1
        before = m.locked_until_utc
        until = receiver.renew_message_lock(m)
        assert until >= before and m.locked_until_utc == until
        receiver.defer_message(m)
        assert receiver.receive_messages(max_wait_time=0.2) == []
        fails(ServiceBusError, receiver.receive_deferred_messages, [4711])
        [d] = receiver.receive_deferred_messages([m.sequence_number])
        assert (d.state, d.delivery_count) == (ServiceBusMessageState.DEFERRED, 2), (d.state, d.delivery_count)
        receiver.dead_letter_message(d, reason="broken", error_description="beyond repair")
        m = one(dead)
        assert (m.dead_letter_reason, m.dead_letter_error_description, m.delivery_count) == ("broken", "beyond repair", 2)
        dead.abandon_message(m)
        m = one(dead)
        assert m.delivery_count == 2
        dead.complete_message(m)

        sender.send_messages(ServiceBusMessage("poison"))
        for count in range(10):
            m = one(receiver)
            assert m.delivery_count == count
            receiver.abandon_message(m)
        m = one(dead)
        assert (m.delivery_count, m.dead_letter_reason) == (10, "MaxDeliveryCountExceeded")
        dead.complete_message(m)

        # Settled by another receiver, by token.
        sender.send_messages([ServiceBusMessage("a"), ServiceBusMessage("b")])
        with client.get_queue_receiver("py-settle") as first:
            held = one(first)
        m = one(receiver)
        assert text(m) == "b"
        receiver.complete_message(m)
        receiver.complete_message(held)
        assert receiver.peek_messages() == []


# auto_lock_renew.py, and a lock that is lost
def locks(client):
    with client.get_queue_sender("py-short") as sender, client.get_queue_receiver("py-short") as receiver, AutoLockRenewer() as renewer:
        sender.send_messages([ServiceBusMessage("late"), ServiceBusMessage("kept")])
        late, kept = take(receiver, 2)
        renewer.register(receiver, kept, max_lock_renewal_duration=60)
        again = one(receiver)  # once the lock has ended
        assert (text(again), again.delivery_count) == ("late", 1)
        fails(MessageLockLostError, receiver.complete_message, late)
        fails(MessageLockLostError, receiver.renew_message_lock, late)
        receiver.complete_message(again)
        receiver.complete_message(kept)
        assert receiver.peek_messages() == []


# schedule_messages_and_cancellation.py
def schedules(client):
    with client.get_queue_sender("py-schedule") as sender, \
            client.get_queue_receiver("py-schedule", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE) as receiver:
        far = now().replace(microsecond=0) + datetime.timedelta(hours=1)
        numbers = sender.schedule_messages([ServiceBusMessage("far 1"), ServiceBusMessage("far 2")], far)
        assert len(numbers) == 2
        peeked = [(text(m), m.state, m.scheduled_enqueue_time_utc) for m in receiver.peek_messages(10)]
        assert peeked == [(f"far {i}", ServiceBusMessageState.SCHEDULED, far) for i in (1, 2)], peeked
        sender.cancel_scheduled_messages(numbers)
        fails(ServiceBusError, sender.cancel_scheduled_messages, numbers[0])
        sender.schedule_messages(ServiceBusMessage("soon"), now() + datetime.timedelta(milliseconds=200))
        sender.send_messages(ServiceBusMessage("also soon", scheduled_enqueue_time_utc=now() + datetime.timedelta(milliseconds=500)))
        assert [text(m) for m in take(receiver, 2)] == ["soon", "also soon"]


# session_send_receive.py, session_pool_receive.py
def sessions(client):
    with client.get_queue_sender("py-sessions") as sender:
        sender.send_messages([ServiceBusMessage(str(i), session_id=s) for i, s in ((1, "a"), (2, "a"), (3, "b"))])
        with client.get_queue_receiver("py-sessions", session_id="a") as a:
            assert a.session.session_id == "a"
            assert now() < a.session.locked_until_utc < now() + datetime.timedelta(seconds=61)  # ticks, as a long
            fails(SessionCannotBeLockedError, client.get_queue_receiver("py-sessions", session_id="a").__enter__)
            fails(ServiceBusError, client.get_queue_receiver("py-sessions").__enter__)
            assert a.session.get_state() is None
            a.session.set_state("step 1")
            assert bytes(a.session.get_state()) == b"step 1"
            assert a.session.renew_lock() > now()
            first, second = take(a, 2)
            assert (text(first), text(second)) == ("1", "2")
            peeked = [text(m) for m in a.peek_messages(10, sequence_number=1)]
            assert peeked == ["1", "2"], peeked
            a.complete_message(first)
        with client.get_queue_receiver("py-sessions", session_id=NEXT_AVAILABLE_SESSION) as x, \
                client.get_queue_receiver("py-sessions", session_id=NEXT_AVAILABLE_SESSION) as y:
            a, b = (x, y) if x.session.session_id == "a" else (y, x)
            assert (a.session.session_id, b.session.session_id) == ("a", "b")
            m = one(a)
            assert (text(m), m.delivery_count) == ("2", 0)  # given back with the session, uncounted
            a.defer_message(m)
            [m] = a.receive_deferred_messages(m.sequence_number)
            a.dead_letter_message(m, reason="enough")
            b.complete_message(one(b))
            a.session.set_state(None)
            assert not a.session.get_state()
        with client.get_queue_receiver("py-sessions", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as dead:  # no sessions there
            m = one(dead)
            assert (text(m), m.session_id, m.delivery_count, m.dead_letter_reason) == ("2", "a", 1, "enough")
            dead.complete_message(m)
        fails(OperationTimeoutError, client.get_queue_receiver("py-sessions", session_id=NEXT_AVAILABLE_SESSION, max_wait_time=1).__enter__)


# send_topic.py, receive_subscription.py
def topics(client):
    with client.get_topic_sender("py-topic") as sender:
        sender.send_messages([ServiceBusMessage(str(i)) for i in range(3)])
    for name in ("all", "blue"):
        with client.get_subscription_receiver("py-topic", name) as receiver:
            got = take(receiver, 3)
            assert [text(m) for m in got] == ["0", "1", "2"]
            receiver.complete_message(got[0])
            receiver.dead_letter_message(got[1])
            receiver.complete_message(got[2])
        with client.get_subscription_receiver("py-topic", name, sub_queue=ServiceBusSubQueue.DEAD_LETTER) as dead:
            m = one(dead)
            assert text(m) == "1"
            dead.complete_message(m)


# The same, from asyncio.
async def asynchronous():
    async with AsyncClient.from_connection_string(CONNECTION, **OPTIONS) as client:
        async with client.get_queue_sender("py-async") as sender, client.get_queue_receiver("py-async") as receiver:
            await sender.send_messages([ServiceBusMessage(str(i)) for i in range(20)])
            seen = []
            async for m in receiver:
                seen.append(text(m))
                await receiver.complete_message(m)
                if len(seen) == 20:
                    break
            assert seen == [str(i) for i in range(20)], seen


def main():
    flows = [send_and_receive, fields, settlements, locks, schedules, sessions, topics]

    def run(flow):
        with ServiceBusClient.from_connection_string(CONNECTION, **OPTIONS) as client:
            flow(client)

    with ThreadPoolExecutor(len(flows)) as pool:
        results = [pool.submit(run, flow) for flow in flows]
        asyncio.run(asynchronous())
    for result in results:
        result.result()
    print("ok")


main()

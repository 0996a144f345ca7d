# The flows of the samples of azure-servicebus. Prints ok.
import datetime
import sys

from azure.servicebus import NEXT_AVAILABLE_SESSION, ServiceBusClient, ServiceBusMessage, ServiceBusReceiveMode, ServiceBusSubQueue
from azure.servicebus.exceptions import ServiceBusAuthenticationError, ServiceBusConnectionError

hour = datetime.timedelta(hours=1)


def refused(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError("no %s" % (kind,))


def take(receiver, n):
    messages = []
    while len(messages) < n:
        messages += receiver.receive_messages(max_message_count=n - len(messages), max_wait_time=10)
    return messages


with ServiceBusClient.from_connection_string(sys.argv[1], retry_total=0) as client:
    # Send one, a batch, a list; schedule and cancel.
    with client.get_queue_sender("q") as sender:
        sender.send_messages(ServiceBusMessage(b"hello", message_id="1", subject="s", application_properties={"a": 1}, time_to_live=hour))
        batch = sender.create_message_batch()
        for i in range(3):
            batch.add_message(ServiceBusMessage("b%d" % i))
        sender.send_messages(batch)
        sender.send_messages([ServiceBusMessage("l1"), ServiceBusMessage("l2")])
        numbers = sender.schedule_messages(ServiceBusMessage("later"), datetime.datetime.now(datetime.timezone.utc) + hour)
        sender.cancel_scheduled_messages(numbers)

    # Peek, receive, renew, and settle in every way.
    with client.get_queue_receiver("q") as receiver:
        assert len(receiver.peek_messages(10)) == 6
        got = take(receiver, 6)
        first = got[0]
        assert (str(first), first.message_id, first.subject, first.application_properties, first.time_to_live) == ("hello", "1", "s", {b"a": 1}, hour)
        assert first.delivery_count == 0  # the raw header, which counts from 0
        assert first.locked_until_utc > first.enqueued_time_utc
        receiver.renew_message_lock(first)
        receiver.complete_message(first)
        receiver.abandon_message(got[1])
        receiver.defer_message(got[2])
        receiver.dead_letter_message(got[3], reason="why", error_description="because")
        for m in got[4:]:
            receiver.complete_message(m)
        (deferred,) = receiver.receive_deferred_messages([got[2].sequence_number])
        assert deferred.delivery_count == 1
        receiver.complete_message(deferred)
        (again,) = take(receiver, 1)
        assert (str(again), again.delivery_count) == ("b0", 1)
        receiver.complete_message(again)
    with client.get_queue_receiver("q", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
        (dead,) = take(receiver, 1)
        assert (str(dead), dead.dead_letter_reason, dead.dead_letter_error_description) == ("b2", "why", "because")
        receiver.complete_message(dead)

    # Sessions.
    with client.get_queue_sender("sessions") as sender:
        for i in range(3):
            sender.send_messages(ServiceBusMessage("x%d" % i, session_id="s1"))
    with client.get_queue_receiver("sessions", session_id=NEXT_AVAILABLE_SESSION) as receiver:
        assert receiver.session.session_id == "s1"
        receiver.session.set_state(b"state")
        assert receiver.session.get_state() == b"state"
        receiver.session.renew_lock()
        for i, m in enumerate(take(receiver, 3)):
            assert str(m) == "x%d" % i
            receiver.complete_message(m)

    # A topic, receive and delete, and an entity that is not there.
    with client.get_topic_sender("topic") as sender:
        sender.send_messages(ServiceBusMessage("news"))
    with client.get_subscription_receiver("topic", "sub", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE) as receiver:
        assert str(take(receiver, 1)[0]) == "news"
    refused((ServiceBusAuthenticationError, ServiceBusConnectionError), lambda: client.get_queue_sender("missing").send_messages(ServiceBusMessage("x")))

print("ok")

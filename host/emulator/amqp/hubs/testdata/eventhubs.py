"""The calls of the samples of azure-eventhub, with the connection string of an
emulator: properties, batches by key and by partition, receiving from positions, and for a consumer group that nobody made."""
import sys
import threading

from azure.eventhub import EventData, EventHubConsumerClient, EventHubProducerClient

connection, hub = sys.argv[1:3]


def receive(partition, n, **where):
    """Receives n events."""
    events, consumer = [], EventHubConsumerClient.from_connection_string(connection, "$Default", eventhub_name=hub)
    enough = threading.Event()

    def on_event(_, event):
        if event is not None:
            events.append(event)
        if len(events) >= n:
            enough.set()

    failed = []
    thread = threading.Thread(target=lambda: consumer.receive(
        on_event, partition_id=partition, on_error=lambda _, err: failed.append(err), **where))
    thread.start()
    assert enough.wait(20), (len(events), failed)
    consumer.close()
    thread.join()
    return events


producer = EventHubProducerClient.from_connection_string(connection, eventhub_name=hub)
with producer:
    properties = producer.get_eventhub_properties()
    assert properties["eventhub_name"] == hub, properties
    assert properties["partition_ids"] == ["0", "1"], properties
    batch = producer.create_batch(partition_id="0")
    for i in range(5):
        event = EventData("event %d" % i)
        event.properties = {"n": i}
        batch.add(event)
    producer.send_batch(batch)
    producer.send_batch([EventData("by key")], partition_key="alphabet")
    partition = producer.get_partition_properties("0")
    assert partition["last_enqueued_sequence_number"] >= 4, partition
    assert not partition["is_empty"], partition

events = receive("0", 5, starting_position="-1")
assert [e.body_as_str() for e in events[:5]] == ["event %d" % i for i in range(5)], events
assert events[3].sequence_number == 3
assert events[3].properties[b"n"] == 3, events[3].properties
assert receive("0", 1, starting_position=2)[0].sequence_number == 3
assert receive("0", 1, starting_position=events[1].offset, starting_position_inclusive=True)[0].sequence_number == 1
assert receive("0", 1, starting_position=events[0].enqueued_time, starting_position_inclusive=True)[0].sequence_number == 0

nobodys = EventHubConsumerClient.from_connection_string(connection, "nobodys", eventhub_name=hub, retry_total=0)
failed = threading.Event()
errors = []
thread = threading.Thread(target=lambda: nobodys.receive(
    lambda *_: None, partition_id="0", starting_position="-1", on_error=lambda _, err: (errors.append(err), failed.set())))
thread.start()
assert failed.wait(20)
nobodys.close()
thread.join()
assert "amqp:not-found" in str(errors[0]), errors
print("done")

import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.amqp.exception.AmqpErrorCondition;
import com.azure.core.amqp.exception.AmqpException;
import com.azure.messaging.eventhubs.EventData;
import com.azure.messaging.eventhubs.EventDataBatch;
import com.azure.messaging.eventhubs.EventHubClientBuilder;
import com.azure.messaging.eventhubs.EventHubConsumerClient;
import com.azure.messaging.eventhubs.EventHubProducerClient;
import com.azure.messaging.eventhubs.EventHubProperties;
import com.azure.messaging.eventhubs.PartitionProperties;
import com.azure.messaging.eventhubs.models.CreateBatchOptions;
import com.azure.messaging.eventhubs.models.EventPosition;
import com.azure.messaging.eventhubs.models.PartitionEvent;
import com.azure.messaging.eventhubs.models.SendOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The calls of the samples of azure-messaging-eventhubs, and how they fail.
 *
 * <p>Usage: EventHubs CONNECTION_STRING HUB ADDRESS; the client drops the port of the string.
 */
public final class EventHubs {
    private static String connection;
    private static String hub;
    private static String address;

    public static void main(String[] args) throws Exception {
        connection = args[0];
        hub = args[1];
        address = args[2];
        Check.all(EventHubs::sendAndReceive, EventHubs::failures);
    }

    private static EventHubClientBuilder client(String hub) {
        return new EventHubClientBuilder().connectionString(connection, hub).customEndpointAddress("http://" + address)
            .retryOptions(new AmqpRetryOptions().setMaxRetries(2).setTryTimeout(Duration.ofSeconds(20)));
    }

    private static List<PartitionEvent> receive(String partition, int n, EventPosition from) {
        try (EventHubConsumerClient consumer = client(hub).consumerGroup("$Default").buildConsumerClient()) {
            List<PartitionEvent> got = new ArrayList<>();
            consumer.receiveFromPartition(partition, n, from, Duration.ofSeconds(20)).forEach(got::add);
            Check.equal(got.size(), n);
            return got;
        }
    }

    private static EventData first(EventPosition from) {
        return receive("0", 1, from).get(0).getData();
    }

    private static void sendAndReceive() {
        try (EventHubProducerClient producer = client(hub).buildProducerClient()) {
            EventHubProperties properties = producer.getEventHubProperties();
            Check.equal(properties.getName(), hub);
            Check.equal(properties.getPartitionIds().stream().toList(), List.of("0", "1"));
            EventDataBatch batch = producer.createBatch(new CreateBatchOptions().setPartitionId("0"));
            Check.equal(batch.getMaxSizeInBytes(), 1048576);
            for (int i = 0; i < 5; i++) {
                EventData event = new EventData("event " + i);
                event.getProperties().put("n", i);
                Check.that(batch.tryAdd(event), i);
            }
            producer.send(batch);
            EventDataBatch anywhere = producer.createBatch();
            Check.that(anywhere.tryAdd(new EventData("anywhere")), "anywhere");
            producer.send(anywhere);
            producer.send(List.of(new EventData("by key")), new SendOptions().setPartitionKey("alphabet"));
            PartitionProperties partition = producer.getPartitionProperties("0");
            Check.that(partition.getLastEnqueuedSequenceNumber() >= 4 && !partition.isEmpty(), partition.getLastEnqueuedSequenceNumber());
        }
        List<PartitionEvent> events = receive("0", 5, EventPosition.earliest());
        for (int i = 0; i < 5; i++) {
            EventData event = events.get(i).getData();
            Check.equal(event.getBodyAsString(), "event " + i);
            Check.equal(event.getSequenceNumber(), (long) i);
            Check.equal(event.getProperties().get("n"), i);
        }
        Check.equal(first(EventPosition.fromSequenceNumber(2)).getSequenceNumber(), 3L);
        Check.equal(first(EventPosition.fromSequenceNumber(2, true)).getSequenceNumber(), 2L);
        Check.equal(first(EventPosition.fromOffsetString(events.get(0).getData().getOffsetString())).getSequenceNumber(), 1L);
        Check.equal(first(EventPosition.fromEnqueuedTime(events.get(0).getData().getEnqueuedTime().minusSeconds(60))).getSequenceNumber(), 0L);
    }

    private static void fails(AmqpErrorCondition want, Check.Call call) {
        Check.fails(AmqpException.class, AmqpException::getErrorCondition, want, call);
    }

    // What is not there, and what is too large.
    private static void failures() throws Exception {
        Check.within(Duration.ofSeconds(30), () -> {
            try (EventHubProducerClient producer = client("nobody").buildProducerClient()) {
                fails(AmqpErrorCondition.NOT_FOUND, producer::getEventHubProperties);
                fails(AmqpErrorCondition.NOT_FOUND, () -> producer.send(List.of(new EventData("x"))));
            }
            try (EventHubConsumerClient consumer = client(hub).consumerGroup("nobodys").buildConsumerClient()) {
                fails(AmqpErrorCondition.NOT_FOUND,
                    () -> consumer.receiveFromPartition("0", 1, EventPosition.earliest(), Duration.ofSeconds(20)).forEach(e -> { }));
            }
        });
        try (EventHubProducerClient producer = client(hub).buildProducerClient()) {
            fails(AmqpErrorCondition.LINK_PAYLOAD_SIZE_EXCEEDED, () -> producer.send(List.of(new EventData(new byte[1 << 20]))));
        }
    }
}

import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.amqp.exception.AmqpErrorCondition;
import com.azure.core.amqp.exception.AmqpException;
import com.azure.core.util.BinaryData;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusMessageBatch;
import com.azure.messaging.servicebus.ServiceBusProcessorClient;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverClient;
import com.azure.messaging.servicebus.ServiceBusTransactionContext;
import com.azure.messaging.servicebus.models.AbandonOptions;
import com.azure.messaging.servicebus.models.CompleteOptions;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import com.azure.messaging.servicebus.models.ServiceBusMessageState;
import com.azure.messaging.servicebus.models.ServiceBusReceiveMode;
import com.azure.messaging.servicebus.models.SubQueue;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * What the samples of azure-messaging-servicebus do, and what its users trip over.
 *
 * <p>Usage: ServiceBus CONNECTION_STRING ADDRESS; the client drops the port of the string.
 */
public final class ServiceBus {
    private static String connection;
    private static String address;

    public static void main(String[] args) throws Exception {
        connection = args[0];
        address = args[1];
        Check.all(ServiceBus::sendAndReceive, ServiceBus::fields, ServiceBus::settlements, ServiceBus::deadLetters,
            ServiceBus::locks, ServiceBus::schedules, ServiceBus::sessions, ServiceBus::topics, ServiceBus::missing,
            ServiceBus::processor, ServiceBus::transactions, ServiceBus::acrossEntities);
    }

    private static ServiceBusClientBuilder client() {
        return new ServiceBusClientBuilder().connectionString(connection).customEndpointAddress("http://" + address)
            .retryOptions(new AmqpRetryOptions().setMaxRetries(3).setTryTimeout(Duration.ofSeconds(20)));
    }

    private static ServiceBusSenderClient sender(String queue) {
        return client().sender().queueName(queue).buildClient();
    }

    private static ServiceBusReceiverClient receiver(String queue) {
        return client().receiver().queueName(queue).disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO).buildClient();
    }

    private static ServiceBusReceiverClient deadReceiver(String queue) {
        return client().receiver().queueName(queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO).buildClient();
    }

    private static List<ServiceBusReceivedMessage> take(ServiceBusReceiverClient receiver, int n) {
        List<ServiceBusReceivedMessage> got = new ArrayList<>();
        while (got.size() < n) {
            int before = got.size();
            receiver.receiveMessages(n - before, Duration.ofSeconds(10)).forEach(got::add);
            Check.that(got.size() > before, got);
        }
        return got;
    }

    private static ServiceBusReceivedMessage one(ServiceBusReceiverClient receiver) {
        return take(receiver, 1).get(0);
    }

    private static String text(ServiceBusReceivedMessage m) {
        return m.getBody().toString();
    }

    private static void fails(ServiceBusFailureReason reason, Check.Call call) {
        Check.fails(ServiceBusException.class, ServiceBusException::getReason, reason, call);
    }

    private static void empty(ServiceBusReceiverClient receiver) {
        Check.equal(receiver.peekMessage(), null);
    }

    // SendMessageBatchSample, ReceiveMessageSyncSample, PeekMessageAsyncSample
    private static void sendAndReceive() {
        try (ServiceBusSenderClient sender = sender("java-basic"); ServiceBusReceiverClient receiver = receiver("java-basic")) {
            sender.sendMessage(new ServiceBusMessage("Single Message"));
            ServiceBusMessageBatch batch = sender.createMessageBatch();
            Check.equal(batch.getMaxSizeInBytes(), 262144);
            for (int i = 0; i < 4; i++) {
                Check.that(batch.tryAddMessage(new ServiceBusMessage("in a batch " + i)), i);
            }
            sender.sendMessages(batch);
            sender.sendMessages(List.of(new ServiceBusMessage("in a list"), new ServiceBusMessage("last")));
            fails(ServiceBusFailureReason.MESSAGE_SIZE_EXCEEDED, () -> sender.sendMessage(new ServiceBusMessage("x".repeat(262145))));

            List<String> peeked = new ArrayList<>();
            receiver.peekMessages(2).forEach(m -> peeked.add(text(m)));
            Check.equal(peeked, List.of("Single Message", "in a batch 0"));
            List<ServiceBusReceivedMessage> got = take(receiver, 7);
            long last = 0;
            for (ServiceBusReceivedMessage m : got) {
                Check.that(m.getSequenceNumber() > last, m.getSequenceNumber());
                last = m.getSequenceNumber();
                Check.equal(m.getDeliveryCount(), 0L); // the raw header: .NET and Go say 1
                Check.that(m.getLockedUntil().isAfter(OffsetDateTime.now()), m.getLockedUntil());
                receiver.complete(m);
            }
            Check.equal(text(got.get(6)), "last");
            empty(receiver);
            sender.sendMessages(List.of(new ServiceBusMessage("d1"), new ServiceBusMessage("d2")));
        }
        try (ServiceBusReceiverClient receiver = client().receiver().queueName("java-basic")
                .receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE).buildClient()) {
            Check.equal(take(receiver, 2).stream().map(ServiceBus::text).toList(), List.of("d1", "d2"));
            empty(receiver);
        }
    }

    private static void fields() {
        try (ServiceBusSenderClient sender = sender("java-fields"); ServiceBusReceiverClient receiver = receiver("java-fields")) {
            ServiceBusMessage sent = new ServiceBusMessage(BinaryData.fromBytes(new byte[] {0, 1, -1})).setSessionId("pk").setMessageId("id")
                .setPartitionKey("pk").setTimeToLive(Duration.ofMinutes(1)).setContentType("text/plain").setCorrelationId("c")
                .setSubject("label").setTo("to").setReplyTo("rt").setReplyToSessionId("rs");
            Map<String, Object> properties = sent.getApplicationProperties();
            properties.put("s", "grüße");
            properties.put("i", 5);
            properties.put("l", 5L << 40);
            properties.put("f", 1.5);
            properties.put("b", true);
            properties.put("u", new java.util.UUID(1, 7));
            sender.sendMessage(sent);
            ServiceBusReceivedMessage m = one(receiver);
            Check.equal(List.of(m.getSessionId(), m.getMessageId(), m.getPartitionKey(), m.getTimeToLive(), m.getContentType(),
                    m.getCorrelationId(), m.getSubject(), m.getTo(), m.getReplyTo(), m.getReplyToSessionId()),
                List.of("pk", "id", "pk", Duration.ofMinutes(1), "text/plain", "c", "label", "to", "rt", "rs"));
            Check.equal(java.util.Arrays.toString(m.getBody().toBytes()), "[0, 1, -1]");
            Check.equal(new java.util.TreeMap<>(m.getApplicationProperties()), new java.util.TreeMap<>(properties));
            Check.equal(Duration.between(m.getEnqueuedTime(), m.getExpiresAt()), Duration.ofMinutes(1));
            receiver.complete(m);
        }
    }

    // ReceiveMessageAndSettleAsyncSample, ReceiveDeferredMessageAsyncSample
    private static void settlements() {
        try (ServiceBusSenderClient sender = sender("java-settle"); ServiceBusReceiverClient receiver = receiver("java-settle")) {
            sender.sendMessage(new ServiceBusMessage("x"));
            receiver.abandon(one(receiver), new AbandonOptions().setPropertiesToModify(Map.of("why", "again")));
            ServiceBusReceivedMessage m = one(receiver);
            Check.equal(m.getDeliveryCount(), 1L);
            Check.equal(m.getApplicationProperties().get("why"), "again");
            OffsetDateTime until = receiver.renewMessageLock(m);
            Check.that(!until.isBefore(m.getLockedUntil()), until);
            receiver.defer(m);
            Check.equal(receiver.peekMessage(1).getState(), ServiceBusMessageState.DEFERRED);
            fails(ServiceBusFailureReason.GENERAL_ERROR, () -> receiver.receiveDeferredMessage(4711)); // the client's own word for no message
            ServiceBusReceivedMessage d = receiver.receiveDeferredMessage(m.getSequenceNumber());
            Check.equal(d.getState(), ServiceBusMessageState.DEFERRED);
            Check.equal(d.getDeliveryCount(), 2L);
            receiver.abandon(d);
            d = receiver.receiveDeferredMessage(m.getSequenceNumber());
            receiver.complete(d);
            empty(receiver);
        }
    }

    // DeadletterQueueSample
    private static void deadLetters() {
        try (ServiceBusSenderClient sender = sender("java-async"); ServiceBusReceiverClient receiver = receiver("java-async");
                ServiceBusReceiverClient dead = deadReceiver("java-async")) {
            sender.sendMessage(new ServiceBusMessage("broken"));
            receiver.deadLetter(one(receiver), new DeadLetterOptions().setDeadLetterReason("broken")
                .setDeadLetterErrorDescription("beyond repair").setPropertiesToModify(Map.of("by", "java")));
            ServiceBusReceivedMessage m = one(dead);
            Check.equal(List.of(m.getDeadLetterReason(), m.getDeadLetterErrorDescription(), m.getApplicationProperties().get("by"), m.getDeliveryCount()),
                List.of("broken", "beyond repair", "java", 0L));
            dead.abandon(m);
            m = one(dead);
            dead.complete(m);

            sender.sendMessage(new ServiceBusMessage("poison"));
            for (long count = 0; count < 10; count++) {
                m = one(receiver);
                Check.equal(m.getDeliveryCount(), count);
                receiver.abandon(m);
            }
            m = one(dead);
            Check.equal(m.getDeadLetterReason(), "MaxDeliveryCountExceeded");
            Check.equal(m.getDeliveryCount(), 10L);
            dead.complete(m);
            empty(receiver);
            empty(dead);
        }
    }

    private static void locks() {
        try (ServiceBusSenderClient sender = sender("java-short"); ServiceBusReceiverClient receiver = receiver("java-short")) {
            sender.sendMessage(new ServiceBusMessage("late"));
            ServiceBusReceivedMessage late = one(receiver);
            ServiceBusReceivedMessage again = one(receiver); // once the lock has ended
            Check.equal(again.getDeliveryCount(), 1L);
            fails(ServiceBusFailureReason.MESSAGE_LOCK_LOST, () -> receiver.complete(late));
            fails(ServiceBusFailureReason.MESSAGE_LOCK_LOST, () -> receiver.renewMessageLock(late));
            receiver.complete(again);
            empty(receiver);
        }
    }

    // SendScheduledMessageAndCancelAsyncSample
    private static void schedules() {
        try (ServiceBusSenderClient sender = sender("java-schedule"); ServiceBusReceiverClient receiver = client().receiver()
                .queueName("java-schedule").receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE).buildClient()) {
            OffsetDateTime far = OffsetDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS).plusHours(1);
            long number = sender.scheduleMessage(new ServiceBusMessage("far"), far);
            ServiceBusReceivedMessage m = receiver.peekMessage();
            Check.equal(List.of(text(m), m.getState(), m.getScheduledEnqueueTime().toInstant(), m.getSequenceNumber()),
                List.of("far", ServiceBusMessageState.SCHEDULED, far.toInstant(), number));
            sender.cancelScheduledMessage(number);
            sender.cancelScheduledMessage(number); // the client keeps to itself that there is no such message
            List<Long> numbers = new ArrayList<>();
            sender.scheduleMessages(List.of(new ServiceBusMessage("a"), new ServiceBusMessage("b")), far).forEach(numbers::add);
            sender.cancelScheduledMessages(numbers);
            sender.scheduleMessage(new ServiceBusMessage("soon"), OffsetDateTime.now().plus(300, ChronoUnit.MILLIS));
            Check.equal(text(one(receiver)), "soon");
        }
    }

    // ReceiveNamedSessionAsyncSample, SessionMessagesProcessor
    private static void sessions() {
        try (ServiceBusSenderClient sender = sender("java-sessions");
                ServiceBusSessionReceiverClient sessions = client().sessionReceiver().queueName("java-sessions").disableAutoComplete()
                    .maxAutoLockRenewDuration(Duration.ZERO).buildClient()) {
            for (String s : List.of("a1", "a2", "b3")) {
                sender.sendMessage(new ServiceBusMessage(s).setSessionId(s.substring(0, 1)));
            }
            try (ServiceBusReceiverClient a = sessions.acceptSession("a")) {
                Check.equal(a.getSessionId(), "a");
                Check.equal(a.getSessionState(), null);
                a.setSessionState("step 1".getBytes());
                Check.equal(new String(a.getSessionState()), "step 1");
                Check.that(a.renewSessionLock().isAfter(OffsetDateTime.now()), "renewed");
                List<ServiceBusReceivedMessage> got = take(a, 2);
                Check.equal(got.stream().map(ServiceBus::text).toList(), List.of("a1", "a2"));
                a.complete(got.get(0));
                a.abandon(got.get(1));
                ServiceBusReceivedMessage m = one(a);
                Check.equal(m.getDeliveryCount(), 1L);
                a.defer(m);
                m = a.receiveDeferredMessage(m.getSequenceNumber());
                a.deadLetter(m);
                try (ServiceBusReceiverClient b = sessions.acceptNextSession()) {
                    Check.equal(b.getSessionId(), "b");
                    b.complete(one(b));
                }
                a.setSessionState(null);
                Check.equal(a.getSessionState(), null);
            }
            try (ServiceBusReceiverClient dead = deadReceiver("java-sessions")) { // no sessions there
                ServiceBusReceivedMessage m = one(dead);
                Check.equal(List.of(text(m), m.getSessionId()), List.of("a2", "a"));
                dead.complete(m);
            }
        }
    }

    // A topic sends to each subscription.
    private static void topics() {
        try (ServiceBusSenderClient sender = client().sender().topicName("java-topic").buildClient()) {
            sender.sendMessages(List.of(new ServiceBusMessage("0"), new ServiceBusMessage("1")));
        }
        for (String name : List.of("all", "blue")) {
            try (ServiceBusReceiverClient receiver = client().receiver().topicName("java-topic").subscriptionName(name).disableAutoComplete().buildClient()) {
                List<ServiceBusReceivedMessage> got = take(receiver, 2);
                receiver.complete(got.get(0));
                receiver.deadLetter(got.get(1));
            }
            try (ServiceBusReceiverClient dead = client().receiver().topicName("java-topic").subscriptionName(name)
                    .subQueue(SubQueue.DEAD_LETTER_QUEUE).disableAutoComplete().buildClient()) {
                ServiceBusReceivedMessage m = one(dead);
                Check.equal(text(m), "1");
                dead.complete(m);
            }
        }
    }

    // What is not there is told at once, and not tried again.
    private static void missing() throws Exception {
        Check.within(Duration.ofSeconds(30), () -> {
            try (ServiceBusSenderClient sender = sender("java-nobody")) {
                fails(ServiceBusFailureReason.MESSAGING_ENTITY_NOT_FOUND, () -> sender.sendMessage(new ServiceBusMessage("x")));
            }
            try (ServiceBusReceiverClient receiver = receiver("java-nobody")) {
                Check.fails(AmqpException.class, AmqpException::getErrorCondition, AmqpErrorCondition.NOT_FOUND, () -> receiver.peekMessage());
            }
        });
    }

    // ServiceBusProcessorSample
    private static void processor() throws Exception {
        CountDownLatch done = new CountDownLatch(3);
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        ServiceBusProcessorClient processor = client().processor().queueName("java-processor").maxConcurrentCalls(1).disableAutoComplete()
            .processMessage(context -> {
                ServiceBusReceivedMessage m = context.getMessage();
                seen.add(text(m) + " " + m.getDeliveryCount());
                if (text(m).equals("again") && m.getDeliveryCount() == 0) {
                    context.abandon();
                } else {
                    context.complete();
                }
                done.countDown();
            }).processError(context -> seen.add(context.getErrorSource() + ": " + context.getException())).buildProcessorClient();
        try (ServiceBusSenderClient sender = sender("java-processor")) {
            processor.start();
            sender.sendMessage(new ServiceBusMessage("again"));
            sender.sendMessage(new ServiceBusMessage("fine"));
            Check.that(done.await(30, TimeUnit.SECONDS), seen);
        } finally {
            processor.close();
        }
        Check.equal(seen.stream().sorted().toList(), List.of("again 0", "again 1", "fine 0"));
        try (ServiceBusReceiverClient receiver = receiver("java-processor")) {
            empty(receiver);
        }
    }

    // One message is dead-lettered, a second completed, a third sent: all of it or nothing.
    private static void transactions() {
        ServiceBusClientBuilder client = client(); // transactions are those of one connection
        try (ServiceBusSenderClient sender = client.sender().queueName("java-transactions").buildClient();
                ServiceBusReceiverClient receiver = client.receiver().queueName("java-transactions").disableAutoComplete()
                    .maxAutoLockRenewDuration(Duration.ZERO).buildClient();
                ServiceBusReceiverClient dead = client.receiver().queueName("java-transactions").subQueue(SubQueue.DEAD_LETTER_QUEUE)
                    .disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO).buildClient()) {
            sender.sendMessages(List.of(new ServiceBusMessage("one"), new ServiceBusMessage("two")));
            List<ServiceBusReceivedMessage> got = take(receiver, 2);
            ServiceBusTransactionContext back = receiver.createTransaction();
            three(sender, receiver, got, back);
            Check.equal(texts(receiver), List.of("one", "two"));
            receiver.rollbackTransaction(back);
            Check.equal(texts(receiver), List.of("one", "two"));
            Check.equal(texts(dead), List.of());

            got = take(receiver, 2); // once the locks have ended: the client takes the messages for settled
            Check.equal(got.get(0).getDeliveryCount(), 1L);
            ServiceBusTransactionContext forward = sender.createTransaction();
            three(sender, receiver, got, forward);
            sender.commitTransaction(forward);
            Check.equal(texts(receiver), List.of("three"));
            Check.equal(texts(dead), List.of("one"));

            // Deferred messages are settled, and messages scheduled, by way of $management.
            ServiceBusReceivedMessage three = one(receiver);
            receiver.defer(three);
            three = receiver.receiveDeferredMessage(three.getSequenceNumber());
            ServiceBusTransactionContext managed = receiver.createTransaction();
            receiver.complete(three, new CompleteOptions().setTransactionContext(managed));
            long number = sender.scheduleMessage(new ServiceBusMessage("four"), OffsetDateTime.now().plusHours(1), managed);
            Check.equal(texts(receiver), List.of("three"));
            receiver.commitTransaction(managed);
            Check.equal(texts(receiver), List.of("four"));
            Check.equal(receiver.peekMessage(1).getSequenceNumber(), number);

            // A send that is refused keeps all the rest from happening, although the client does not say so.
            ServiceBusTransactionContext refused = sender.createTransaction();
            sender.sendMessage(new ServiceBusMessage("five"), refused);
            try (ServiceBusSenderClient elsewhere = client.sender().queueName("java-basic").buildClient()) {
                elsewhere.sendMessage(new ServiceBusMessage("six"), refused);
            }
            fails(ServiceBusFailureReason.GENERAL_ERROR, () -> sender.commitTransaction(refused));
            Check.equal(texts(receiver), List.of("four"));
        }
    }

    private static void three(ServiceBusSenderClient sender, ServiceBusReceiverClient receiver, List<ServiceBusReceivedMessage> got,
            ServiceBusTransactionContext transaction) {
        receiver.deadLetter(got.get(0), new DeadLetterOptions().setTransactionContext(transaction));
        receiver.complete(got.get(1), new CompleteOptions().setTransactionContext(transaction));
        sender.sendMessage(new ServiceBusMessage("three"), transaction);
    }

    private static List<String> texts(ServiceBusReceiverClient receiver) {
        List<String> all = new ArrayList<>();
        receiver.peekMessages(100, 1).forEach(m -> all.add(text(m)));
        return all;
    }

    // A message of one queue becomes a message of another.
    private static void acrossEntities() {
        ServiceBusClientBuilder client = client().enableCrossEntityTransactions();
        try (ServiceBusReceiverClient receiver = client.receiver().queueName("java-from").disableAutoComplete()
                    .maxAutoLockRenewDuration(Duration.ZERO).buildClient();
                ServiceBusSenderClient sender = client.sender().queueName("java-to").buildClient();
                ServiceBusReceiverClient to = receiver("java-to")) {
            try (ServiceBusSenderClient first = sender("java-from")) {
                first.sendMessage(new ServiceBusMessage("in"));
            }
            ServiceBusReceivedMessage in = one(receiver);
            ServiceBusTransactionContext transaction = receiver.createTransaction();
            receiver.complete(in, new CompleteOptions().setTransactionContext(transaction));
            sender.sendMessage(new ServiceBusMessage("out"), transaction);
            Check.equal(texts(to), List.of());
            receiver.commitTransaction(transaction);
            Check.equal(texts(to), List.of("out"));
            empty(receiver);
        }
    }
}

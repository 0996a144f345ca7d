package io.github.redeliver.testing;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** A message as it lies in a queue, a subscription, or a dead-letter queue. */
public final class Message extends Body {
    private final Told told;
    private final String idMember;
    private final String countMember;
    private final String enqueuedMember;

    private Message(Told told, String id, String count, String enqueued) {
        super(told.data());
        this.told = told;
        idMember = id;
        countMember = count;
        enqueuedMember = enqueued;
    }

    static Message ofQueue(Object told) {
        return new Message(new Told(told), "id", "dequeueCount", "inserted");
    }

    static Message ofServiceBus(Object told) {
        return new Message(new Told(told), "messageId", "failedDeliveries", "enqueued");
    }

    /** Its ID. */
    public String id() {
        return told.text(idMember);
    }

    /** How often it was delivered. */
    public int deliveryCount() {
        return told.whole(countMember);
    }

    /** When it came; null where that is not told. */
    public Instant enqueued() {
        return told.time(enqueuedMember);
    }

    /** Of Service Bus: active, deferred, scheduled. */
    public String state() {
        return told.text("state");
    }

    /** Of Service Bus: its application properties. */
    public Map<String, Object> properties() {
        Map<String, Object> out = new LinkedHashMap<>();
        told.object("properties").forEach((name, value) -> out.put(name, Values.plain(value)));
        return out;
    }

    /** Of a dead letter: why, in a word. */
    public String reason() {
        return told.text("deadLetterReason");
    }

    /** Of a dead letter: why, in a sentence. */
    public String description() {
        return told.text("deadLetterDescription");
    }

    /** Of a dead letter: where it lay before. */
    public String source() {
        return told.text("deadLetterSource");
    }

    /** Of a poison message: the last failure of its handler. */
    public String lastError() {
        return told.text("lastError");
    }
}

package io.github.redeliver.testing;

import java.time.Duration;

/** What a message of Service Bus has beside its body. */
public final class BusMessage {
    final Query query = new Query();

    BusMessage() {
    }

    /** Its ID. */
    public BusMessage id(String id) {
        return with("id", id);
    }

    /** The session. */
    public BusMessage session(String id) {
        return with("session", id);
    }

    /** The subject. */
    public BusMessage subject(String subject) {
        return with("subject", subject);
    }

    /** The type of its body. */
    public BusMessage contentType(String type) {
        return with("contentType", type);
    }

    /** The correlation ID. */
    public BusMessage correlationId(String id) {
        return with("correlation", id);
    }

    /** An application property. */
    public BusMessage property(String name, String value) {
        return with("property", name + "=" + value);
    }

    /** It comes after that time. */
    public BusMessage delay(Duration delay) {
        return with("delay", Values.span(delay));
    }

    private BusMessage with(String name, String value) {
        query.add(name, value);
        return this;
    }
}

package io.github.redeliver.testing;

import java.time.Duration;
import java.util.Objects;

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
        return with("property", name + "=" + Objects.requireNonNull(value, () -> "property " + name + " is null"));
    }

    /** An application property that is a number. */
    public BusMessage property(String name, long value) {
        return with("property", name + ":=" + value);
    }

    /** An application property that is true or false. */
    public BusMessage property(String name, boolean value) {
        return with("property", name + ":=" + value);
    }

    /** It comes after that time. */
    public BusMessage delay(Duration delay) {
        return with("delay", Values.span(delay));
    }

    private BusMessage with(String name, String value) {
        query.add(name, Objects.requireNonNull(value, () -> name + " is null: leave it out, or give it a value"));
        return this;
    }
}

package io.github.redeliver.testing;

import java.time.Duration;
import java.util.Objects;

/** A fault of a service, which the app meets. */
public final class Fault {
    final Query query = new Query();

    Fault() {
    }

    /** The service, such as queue or servicebus. */
    public Fault service(String name) {
        return with("service", name);
    }

    /** The queue, topic, container. */
    public Fault entity(String name) {
        return with("entity", name);
    }

    /** The operation, such as Complete. */
    public Fault operation(String name) {
        return with("operation", name);
    }

    /** After the operation has had its effect. */
    public Fault after() {
        return with("after", true);
    }

    /** The operation succeeds, and has no effect. */
    public Fault lost() {
        return with("lost", true);
    }

    /** The error. */
    public Fault error(String code) {
        return with("error", code);
    }

    /** The status of HTTP. */
    public Fault status(int status) {
        return with("status", status);
    }

    /** The operation takes that long. */
    public Fault latency(Duration latency) {
        return with("latency", Values.span(latency));
    }

    /** How often; once unless it is given. */
    public Fault times(int times) {
        return with("times", Values.whole("times", times));
    }

    private Fault with(String name, Object value) {
        query.add(name, Objects.requireNonNull(value, () -> name + " is null: leave it out, or give it a value"));
        return this;
    }
}

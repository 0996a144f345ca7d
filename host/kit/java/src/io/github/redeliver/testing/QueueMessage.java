package io.github.redeliver.testing;

import java.time.Duration;
import java.util.Objects;

/** How a message is sent to a queue. */
public final class QueueMessage {
    final Query query = new Query();

    QueueMessage() {
    }

    /** As it is, and not as the queue's messages are encoded. */
    public QueueMessage raw() {
        query.add("raw", true);
        return this;
    }

    /** Nobody sees it before that time. */
    public QueueMessage visibility(Duration after) {
        query.add("visibility", Values.span(Objects.requireNonNull(after, "visibility is null")));
        return this;
    }

    /** It is gone after that time. */
    public QueueMessage ttl(Duration life) {
        query.add("ttl", Values.span(Objects.requireNonNull(life, "ttl is null")));
        return this;
    }
}

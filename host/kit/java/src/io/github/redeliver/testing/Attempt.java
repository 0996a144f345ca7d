package io.github.redeliver.testing;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** One call of a handler, or of a script. */
public final class Attempt {
    private final Told told;

    Attempt(Object told) {
        this.told = new Told(told);
    }

    /** The function. */
    public String function() {
        return told.text("function");
    }

    /** The ID of the message; empty where the trigger has none. */
    public String messageId() {
        return told.text("messageId");
    }

    /** The ID of the invocation. */
    public String invocationId() {
        return told.text("invocationId");
    }

    /** The delivery's name in the journal; after a restart the names begin anew. */
    public String deliveryId() {
        return told.text("deliveryId");
    }

    /** The delivery of the message, from 1. */
    public int delivery() {
        return told.whole("delivery");
    }

    /** What the service has counted. */
    public int deliveryCount() {
        return told.whole("deliveryCount");
    }

    /** The attempt in its delivery, from 1. */
    public int attempt() {
        return told.whole("attempt");
    }

    /** The retries before it. */
    public int retryCount() {
        return told.whole("retryCount");
    }

    /** The retries that the policy allows; null without one, -1 for ever. */
    public Integer maxRetryCount() {
        return told.has("maxRetryCount") ? told.whole("maxRetryCount") : null;
    }

    /** When it began, in virtual time. */
    public Instant started() {
        return told.time("started");
    }

    /** When it ended, in virtual time; null while it runs. */
    public Instant ended() {
        return told.time("ended");
    }

    /** How long it took, in real time. */
    public Duration took() {
        return Duration.ofNanos((long) (told.number("tookMs") * 1e6));
    }

    /** running, succeeded, failed, timed_out, or lost. */
    public String status() {
        return told.text("status");
    }

    /** Why it failed; null where it did not. */
    public Problem error() {
        return told.has("error") ? new Problem(new Told(told.object("error"))) : null;
    }

    /** What the policy made of a failure: retry, exhausted, permanent, cancelled; else empty. */
    public String decision() {
        return told.text("decision");
    }

    /** The time until the next attempt; null where there is none. */
    public Duration nextDelay() {
        return told.has("nextDelay") ? Values.duration(told.text("nextDelay")) : null;
    }

    /** How the delivery was settled, of its last attempt; else empty. */
    public String settled() {
        return told.text("settled");
    }

    /** The lines that the handler has logged. */
    public List<String> logs() {
        List<String> out = new ArrayList<>();
        told.list("logs").forEach(line -> out.add(new Told(line).text("text")));
        return out;
    }

    @Override
    public String toString() {
        return function() + " delivery " + delivery() + " attempt " + attempt() + " " + status() + (error() == null ? "" : ": " + error());
    }
}

package io.github.redeliver.testing;

import java.time.Instant;

/** A call of a handler. */
final class Turn {
    final String name; // for people
    final String invocation;
    final Runnable call;
    private volatile Instant now;

    Turn(String name, String invocation, Instant now, Runnable call) {
        this.name = name;
        this.invocation = invocation;
        this.now = now;
        this.call = call;
    }

    /** The virtual time, which stands until the handler sleeps; null: it was not told. */
    Instant now() {
        return now;
    }

    void slept(Instant until) {
        now = until;
    }
}

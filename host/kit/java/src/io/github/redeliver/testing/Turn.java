package io.github.redeliver.testing;

/** A call of a handler. */
final class Turn {
    final String name; // for people
    final String invocation;
    final Runnable call;

    Turn(String name, String invocation, Runnable call) {
        this.name = name;
        this.invocation = invocation;
        this.call = call;
    }
}

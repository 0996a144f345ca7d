package io.github.redeliver.testing;

/** Why an attempt failed. */
public final class Problem {
    private final Told told;

    Problem(Told told) {
        this.told = told;
    }

    /** The class of the exception; empty for a script's. */
    public String type() {
        return told.text("type");
    }

    /** What it says. */
    public String message() {
        return told.text("message");
    }

    /** Where it was thrown. */
    public String stack() {
        return told.text("stack");
    }

    @Override
    public String toString() {
        return message();
    }
}

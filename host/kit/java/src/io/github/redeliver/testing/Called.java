package io.github.redeliver.testing;

/** What came of a function that was called by hand. */
public final class Called {
    private final Told told;

    Called(Object told) {
        this.told = new Told(told);
    }

    /** Whether its last attempt succeeded. */
    public boolean succeeded() {
        return Boolean.TRUE.equals(told.members().get("succeeded"));
    }

    /** How many attempts there were. */
    public int attempts() {
        return told.whole("attempts");
    }

    /** Why the last one failed; else empty. */
    public String error() {
        return told.text("error");
    }
}

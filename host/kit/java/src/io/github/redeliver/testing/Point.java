package io.github.redeliver.testing;

/** Where a host may crash in a delivery. */
public enum Point {
    /** The message is there, and nothing was done. */
    AFTER_RECEIVE("afterReceive"),
    /** Before the handler is called. */
    BEFORE_HANDLER("beforeHandler"),
    /** The handler has returned, and nothing was written. */
    AFTER_HANDLER("afterHandler"),
    /** Between two attempts of a retry policy. */
    BETWEEN_ATTEMPTS("betweenAttempts"),
    /** Before the service is told. */
    BEFORE_SETTLE("beforeSettle"),
    /** The service was told. */
    AFTER_SETTLE("afterSettle"),
    /** A checkpoint was written. */
    AFTER_CHECKPOINT("afterCheckpoint");

    final String word;

    Point(String word) {
        this.word = word;
    }
}

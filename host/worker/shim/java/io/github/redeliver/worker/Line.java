package io.github.redeliver.worker;

import java.nio.charset.StandardCharsets;

/** A line of the host. */
final class Line {
    static final int HEAD = 1 << 15; // how much is looked at of a line that cannot be taken
    private final String head;
    private String text;
    private Throwable lost;

    Line(byte[] bytes, int size, Throwable lost) {
        this.head = new String(bytes, 0, Math.min(size, HEAD), StandardCharsets.UTF_8);
        this.lost = lost;
        try {
            this.text = lost != null ? null : size <= HEAD ? head : new String(bytes, 0, size, StandardCharsets.UTF_8);
        } catch (OutOfMemoryError full) {
            this.lost = full;
        }
    }

    String head() {
        return head;
    }

    String text() {
        if (lost != null) {
            throw new IllegalArgumentException("a message of the host is larger than this process can hold: " + lost.getMessage());
        }
        return text;
    }
}

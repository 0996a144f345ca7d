package io.github.redeliver.testing;

import java.nio.charset.StandardCharsets;

/** Bytes that a message, an answer or a blob holds. */
public class Body {
    private final byte[] bytes;

    Body(byte[] bytes) {
        this.bytes = bytes;
    }

    /** The bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** The bytes as UTF-8. */
    public String text() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The bytes as JSON: maps, lists, texts, Integer, Long or BigInteger, Double, booleans, null. */
    public Object json() {
        return Values.plain(Values.parse(text()));
    }

    /** The bytes as JSON of a class, by its fields; by Gson where the class path has it. */
    public <T> T json(Class<T> type) {
        return Values.read(text(), type);
    }

    @Override
    public String toString() {
        return text();
    }
}

package io.github.redeliver.testing;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** A record of the journal. */
public final class JournalRecord {
    private final Told told;

    JournalRecord(Object told) {
        this.told = new Told(told);
    }

    /** Its number. */
    public long seq() {
        return (long) told.number("seq");
    }

    /** Its virtual time. */
    public Instant time() {
        return told.time("time");
    }

    /** What it tells of, such as settled. */
    public String kind() {
        return told.text("kind");
    }

    /** A member as a text; empty for one that it has not. */
    public String text(String member) {
        return told.text(member);
    }

    /** All members, by their names in the journal. */
    public Map<String, Object> members() {
        Map<String, Object> out = new LinkedHashMap<>();
        told.members().forEach((name, value) -> out.put(name, Values.plain(value)));
        return out;
    }

    @Override
    public String toString() {
        return Values.text(told.members());
    }
}

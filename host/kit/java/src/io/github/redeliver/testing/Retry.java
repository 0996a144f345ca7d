package io.github.redeliver.testing;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** A retry policy of a function. */
public final class Retry {
    final Map<String, Object> members = new LinkedHashMap<>();

    private Retry(String strategy, int maxRetryCount) {
        members.put("strategy", strategy);
        members.put("maxRetryCount", maxRetryCount);
    }

    /** Retries with the same delay before each; -1 retries for ever. */
    public static Retry fixedDelay(int maxRetryCount, Duration delay) {
        Retry out = new Retry("fixedDelay", maxRetryCount);
        out.members.put("delayInterval", span(delay));
        return out;
    }

    /** Retries with delays that grow from the least to the most. */
    public static Retry exponentialBackoff(int maxRetryCount, Duration least, Duration most) {
        Retry out = new Retry("exponentialBackoff", maxRetryCount);
        out.members.put("minimumInterval", span(least));
        out.members.put("maximumInterval", span(most));
        return out;
    }

    /** A span as function.json has it. */
    private static String span(Duration of) {
        String days = of.toDays() == 0 ? "" : of.toDays() + ".";
        String rest = of.getNano() == 0 ? "" : String.format(".%07d", of.getNano() / 100);
        return String.format("%s%02d:%02d:%02d%s", days, of.toHoursPart(), of.toMinutesPart(), of.toSecondsPart(), rest);
    }
}

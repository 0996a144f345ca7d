package io.github.redeliver.testing;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What has not happened, for people. */
final class Failures {
    private Failures() {
    }

    /** An AssertionFailedError where opentest4j is, so that IDEs and reports show both values; else an AssertionError. */
    static AssertionError failure(String text, Object expected, Object actual) {
        try {
            Class<?> kind = Class.forName("org.opentest4j.AssertionFailedError", true, Failures.class.getClassLoader());
            if (expected == null && actual == null) {
                return (AssertionError) kind.getConstructor(String.class).newInstance(text);
            }
            return (AssertionError) kind.getConstructor(String.class, Object.class, Object.class).newInstance(text, expected, actual);
        } catch (ReflectiveOperationException | LinkageError none) {
            return new AssertionError(text);
        }
    }

    /** Failures as the program tells them; a text of its own has all of them. */
    static AssertionError of(List<Object> failures, String text) {
        Told first = new Told(failures.isEmpty() ? null : failures.get(0));
        boolean both = first.has("want") || first.has("got");
        return failure(text.isEmpty() ? text(failures) : text, both ? first.text("want") : null, both ? first.text("got") : null);
    }

    static String text(List<Object> failures) {
        return failures.stream().map(one -> {
            Told told = new Told(one);
            String text = (told.has("path") ? told.text("path") + ": " : "") + told.text("message");
            if (told.has("want") || told.has("got")) {
                text += "\n  want  " + told.text("want") + "\n  got   " + told.text("got");
            }
            return text + timeline(told);
        }).collect(Collectors.joining("\n"));
    }

    /** The timeline below what it is about, and what the handlers have logged. */
    static String timeline(Told told) {
        StringBuilder out = new StringBuilder();
        told.list("timeline").forEach(line -> out.append("\n    ").append(line));
        told.list("logs").forEach(line -> out.append("\n  log  ").append(new Told(line).text("text")));
        return out.toString();
    }

    private static final int MOST = 12; // lines at either end of a life

    /** What explain says. */
    static String explained(Told told) {
        List<String> out = new ArrayList<>();
        for (Object one : told.list("lives")) {
            Told life = new Told(one);
            out.add("message " + life.text(life.has("message") ? "message" : "number") + " of " + life.text("source")
                + (life.has("function") ? ", function " + life.text("function") + " (" + life.text("trigger") + ")" : ""));
            if (life.has("policy")) {
                out.add("  retry     " + life.text("policy"));
            }
            List<String> lines = entries(life.list("entries"));
            if (lines.size() > 2 * MOST) {
                out.addAll(lines.subList(0, MOST));
                out.add("    … " + (lines.size() - 2 * MOST) + " lines");
                lines = lines.subList(lines.size() - MOST, lines.size());
            }
            out.addAll(lines);
            if (life.has("next")) {
                out.add("  next      " + life.text("next"));
            }
        }
        return out.isEmpty() ? "nothing has happened" : String.join("\n", out);
    }

    private static List<String> entries(List<Object> told) {
        List<String> out = new ArrayList<>();
        Instant begin = null;
        for (Object one : told) {
            Told entry = new Told(one);
            Instant at = entry.time("time");
            begin = begin == null ? at : begin;
            String passed = at == null || begin == null ? "" : "+" + Values.span(Duration.between(begin, at));
            out.add(String.format("    %-13s %s%s", passed, entry.has("attempt") ? "  " : "", entry.text("text")));
        }
        return out;
    }
}

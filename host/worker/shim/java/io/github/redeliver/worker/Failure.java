package io.github.redeliver.worker;

import static io.github.redeliver.worker.Json.map;

import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What went wrong, as the host is told of it. */
final class Failure {
    static final Map<String, Object> SUCCESS = map("status", "Success");

    static Map<String, Object> status(Throwable thrown) {
        Throwable error = thrown;
        while (error instanceof InvocationTargetException && error.getCause() != null) {
            error = error.getCause();
        }
        return map("status", "Failure", "exception", exception(error));
    }

    private static final int MOST_TEXT = 1 << 15;

    /** The status of an answer that cannot travel: of a failure the beginning of its texts, else why. */
    static Map<String, Object> untold(Map<String, Object> answer, Throwable error) {
        Map<String, Object> told = Json.object(Json.object(answer.get("result")).get("exception"));
        if (told.isEmpty()) {
            return status(error);
        }
        Map<String, Object> brief = new LinkedHashMap<>(told);
        brief.replaceAll((name, value) -> begin(value));
        return map("status", "Failure", "exception", brief);
    }

    /** The beginning of a text; another value as it is. */
    static Object begin(Object value) {
        return value instanceof String && ((String) value).length() > MOST_TEXT ? ((String) value).substring(0, MOST_TEXT) : value;
    }

    static Map<String, Object> exception(Throwable error) {
        if (error instanceof LoadException) {
            return map("message", error.getMessage());
        }
        String type = error.getClass().getName();
        String brief = type.substring(type.lastIndexOf('.') + 1);
        String message;
        try {
            message = error.getMessage() == null ? brief : brief + ": " + error.getMessage();
        } catch (Throwable broken) {
            message = brief + ": (its message cannot be read: " + broken.getClass().getName() + ")";
        }
        return map("type", type, "message", message, "stackTrace", stack(error), "isUserException", true);
    }

    /** Where it went wrong: the calls of the app, without those of this worker. */
    static String stack(Throwable error) {
        StringBuilder out = new StringBuilder();
        Map<Throwable, Boolean> seen = new IdentityHashMap<>();
        try {
            for (Throwable part = error; part != null && seen.put(part, true) == null; part = part.getCause()) {
                if (part != error) {
                    out.append("Caused by: ").append(part).append('\n');
                }
                for (StackTraceElement frame : frames(part)) {
                    out.append("\tat ").append(frame).append('\n');
                }
            }
        } catch (Throwable broken) {
            out.append("(the rest cannot be read: ").append(broken.getClass().getName()).append(")\n");
        }
        return out.toString();
    }

    private static List<StackTraceElement> frames(Throwable error) {
        List<StackTraceElement> all = new ArrayList<>();
        for (StackTraceElement frame : error.getStackTrace()) {
            if (frame.getClassName().equals(UserFunction.class.getName())) {
                break; // what called it may be a test
            }
            all.add(frame);
        }
        while (!all.isEmpty() && beneath(all.get(all.size() - 1).getClassName())) {
            all.remove(all.size() - 1);
        }
        all.removeIf(frame -> frame.getClassName().startsWith(OURS));
        return all;
    }

    private static final String OURS = Failure.class.getPackageName() + ".";

    /** What a call of a function stands on. */
    private static boolean beneath(String name) {
        return name.startsWith(OURS) || name.startsWith("java.lang.reflect.") || name.startsWith("jdk.internal.reflect.") || name.startsWith("java.lang.invoke.");
    }
}

package io.github.redeliver.worker;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** What a builder of a response knows. */
final class Answer {
    private final AppClasses app;
    private final Object builder;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private Object status;
    private Object body;

    Answer(AppClasses app) {
        this.app = app;
        builder = app.proxy("HttpResponseMessage$Builder", Map.of(
            "status", a -> status(a[0]).self(),
            "header", a -> {
                headers.keySet().removeIf(name -> name.equalsIgnoreCase((String) a[0]));
                headers.put((String) a[0], (String) a[1]);
                return self();
            },
            "body", a -> {
                body = a[0];
                return self();
            },
            "build", a -> build()));
    }

    Answer status(Object given) {
        status = given;
        return this;
    }

    Object self() {
        return builder;
    }

    private Object build() {
        Map<String, String> sent = new LinkedHashMap<>(headers);
        Object code = code(status);
        Object given = status;
        Object content = body;
        Map<String, Function<Object[], Object>> methods = new HashMap<>();
        methods.put("getStatus", a -> given);
        methods.put("getStatusCode", a -> code);
        methods.put("getHeader", a -> sent.entrySet().stream().filter(h -> h.getKey().equalsIgnoreCase((String) a[0])).map(Map.Entry::getValue).findFirst().orElse(null));
        methods.put("getBody", a -> content);
        return app.proxy("HttpResponseMessage", new Headed(sent, methods));
    }

    private Object code(Object status) {
        try {
            return status == null ? 200 : status instanceof Integer ? status : app.api("HttpStatusType").getMethod("value").invoke(status);
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException("the status " + status + " has no number", error);
        }
    }
}

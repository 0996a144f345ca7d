package io.github.redeliver.worker;

import static io.github.redeliver.worker.Json.map;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** One call: its values, and its context. */
final class Call {
    final AppClasses app;
    final Map<String, Object> inputs = new LinkedHashMap<>();
    final Map<String, Object> metadata = new HashMap<>();
    final Map<String, Object> outputs = new LinkedHashMap<>();

    private final Link link;
    private final UserFunction function;
    private final Map<String, Object> request;

    Call(AppClasses app, Link link, UserFunction function, Map<String, Object> request) {
        this.app = app;
        this.link = link;
        this.function = function;
        this.request = request;
        metadata.putAll(Json.object(request.get("triggerMetadata")));
        for (Object one : Json.array(request.get("inputData"))) {
            Map<String, Object> input = Json.object(one);
            String name = Json.text(input.get("name"));
            Object data = input.get("data");
            inputs.put(name, data);
            if (Json.object(data).containsKey("http")) { // it is metadata, too
                metadata.put(name, data);
                metadata.put("$request", data);
            }
        }
    }

    Object output(String name) throws ReflectiveOperationException {
        Object output = outputs.get(name);
        if (output == null) {
            output = app.outputType().getConstructor().newInstance();
            outputs.put(name, output);
        }
        return output;
    }

    Object context() {
        String id = Json.text(request.get("invocationId"));
        Logger logger = logger(id);
        Map<String, Object> trace = Json.object(request.get("traceContext"));
        Map<String, Object> retry = Json.object(request.get("retryContext"));
        Map<String, Object> before = Json.object(retry.get("exception"));
        Map<String, String> attributes = Data.texts(trace.get("attributes"));
        return app.proxy("ExecutionContext", Map.of(
            "getLogger", a -> logger, "getInvocationId", a -> id, "getFunctionName", a -> function.name,
            "getTraceContext", a -> app.proxy("TraceContext", Map.of(
                "getTraceparent", b -> Json.text(trace.get("traceParent")), "getTracestate", b -> Json.text(trace.get("traceState")), "getAttributes", b -> attributes)),
            "getRetryContext", a -> app.proxy("RetryContext", Map.of(
                "getRetrycount", b -> Json.whole(retry.get("retryCount")), "getMaxretrycount", b -> Json.whole(retry.get("maxRetryCount")),
                "getException", b -> app.proxy("RpcException", Map.of(
                    "getMessage", c -> Json.text(before.get("message")), "getSource", c -> Json.text(before.get("source")),
                    "getStacktrace", c -> Json.text(before.get("stackTrace"))))))));
    }

    /** What is logged for this call travels with its ID. */
    private Logger logger(String id) {
        Logger logger = Logger.getAnonymousLogger();
        logger.setLevel(Level.ALL);
        logger.setUseParentHandlers(false);
        logger.addHandler(new Handler() {
            @Override
            public void publish(LogRecord record) {
                Throwable thrown = record.getThrown();
                // As it is: the official worker leaves {0} in it, too.
                Map<String, Object> line = map(
                    "invocationId", id, "level", level(record.getLevel()), "message", Json.text(record.getMessage()), "logCategory", "User",
                    "exception", thrown == null ? null : Failure.exception(thrown));
                try {
                    link.send("", "rpcLog", line);
                } catch (IllegalArgumentException | OutOfMemoryError error) {
                    line.remove("exception");
                    line.computeIfPresent("message", (name, text) -> Failure.begin(text) + "... (the rest of the line is left out: " + error.getMessage() + ")");
                    link.send("", "rpcLog", line);
                }
            }

            @Override
            public void flush() {
                // nothing is held back
            }

            @Override
            public void close() {
                // the connection stays
            }
        });
        return logger;
    }

    /** The levels of the official worker. */
    private static String level(Level level) {
        int value = level.intValue();
        if (value <= Level.FINE.intValue()) {
            return "Trace";
        }
        if (value < Level.INFO.intValue()) {
            return "Debug";
        }
        if (value < Level.WARNING.intValue()) {
            return "Information";
        }
        return value < Level.SEVERE.intValue() ? "Warning" : "Error";
    }
}

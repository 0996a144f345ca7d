package io.github.redeliver.testing;

import io.github.redeliver.worker.Function;
import io.github.redeliver.worker.Json;
import io.github.redeliver.worker.Link;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A function that a test has written. */
final class Written implements Function {
    private final String name;
    private final FunctionSpec spec;
    private final Map<String, Object> trigger;
    private final List<Map<String, Object>> bindings = new ArrayList<>();
    private final boolean http;
    private final boolean returns;

    Written(String name, FunctionSpec spec) {
        this.name = name;
        this.spec = spec;
        trigger = new LinkedHashMap<>(Map.of("direction", "in", "name", "item"));
        trigger.putAll(Json.object(spec.members().get("trigger")));
        bindings.add(trigger);
        Json.array(spec.members().get("bindings")).forEach(one -> bindings.add(Json.object(one)));
        http = Json.text(trigger.get("type")).equalsIgnoreCase("httpTrigger");
        boolean named = bindings.stream().anyMatch(one -> "$return".equals(one.get("name")));
        if (http && !named) {
            bindings.add(Json.map("type", "http", "direction", "out", "name", "$return"));
        }
        returns = http || named;
    }

    Map<String, Object> metadata() {
        return Declared.metadata(name, name, bindings);
    }

    /** The function as a scenario has it. */
    Map<String, Object> spec() {
        Map<String, Object> out = new LinkedHashMap<>(spec.members());
        out.put("trigger", trigger);
        out.put("handler", Map.of("attached", true));
        return out;
    }

    @Override
    public Map<String, Object> call(Link link, Map<String, Object> request) throws Exception {
        Map<String, Object> data = new LinkedHashMap<>();
        Json.array(request.get("inputData")).forEach(one -> data.put(new Told(one).text("name"), new Told(one).object("data")));
        List<Object> outputs = new ArrayList<>();
        Context context = new Context(link, request, outputs);
        Object result = spec.handler().handle(new Body(bytes(Json.object(data.get(Json.text(trigger.get("name")))))), context);
        Map<String, Object> value = !returns || result == null && !http ? null : http ? answer(result) : leaving(result);
        return Json.map("result", Map.of("status", "Success"), "outputData", outputs, "returnValue", value);
    }

    /** What has come, as bytes. */
    private static byte[] bytes(Map<String, Object> data) {
        String kind = data.isEmpty() ? "" : data.keySet().iterator().next();
        Object value = data.get(kind);
        switch (kind) {
            case "http":
                return bytes(new Told(value).object("body"));
            case "bytes":
                return Base64.getDecoder().decode(Json.text(value));
            case "collectionString":
            case "collectionBytes":
            case "collectionDouble":
            case "collectionSint64":
                return Values.text(Json.object(value).values().stream().findFirst().orElse(List.of())).getBytes(StandardCharsets.UTF_8);
            default:
                return Json.text(value).getBytes(StandardCharsets.UTF_8);
        }
    }

    private static Map<String, Object> leaving(Object value) {
        if (value instanceof byte[]) {
            return Json.map("bytes", Base64.getEncoder().encodeToString((byte[]) value));
        }
        return value instanceof CharSequence ? Json.map("string", value.toString()) : Json.map("json", Values.text(value));
    }

    private static Map<String, Object> answer(Object result) {
        Reply reply = result instanceof Reply ? (Reply) result : Reply.of(200, result);
        Map<String, Object> headers = new LinkedHashMap<>(reply.headers);
        boolean json = reply.body != null && !(reply.body instanceof CharSequence) && !(reply.body instanceof byte[]);
        if (json && headers.keySet().stream().noneMatch("content-type"::equalsIgnoreCase)) {
            headers.put("content-type", "application/json");
        }
        return Json.map("http", Json.map("statusCode", String.valueOf(reply.status), "headers", headers,
            "body", reply.body == null ? null : json ? Json.map("string", Values.text(reply.body)) : leaving(reply.body)));
    }

    /** What the handler is told, and what it says. */
    private final class Context implements HandlerContext {
        private final Link link;
        private final Told request;
        private final Told retry;
        private final List<Object> outputs;

        Context(Link link, Map<String, Object> request, List<Object> outputs) {
            this.link = link;
            this.request = new Told(request);
            this.outputs = outputs;
            retry = new Told(request.get("retryContext"));
        }

        @Override
        public String invocationId() {
            return request.text("invocationId");
        }

        @Override
        public String functionName() {
            return name;
        }

        @Override
        public int retryCount() {
            return retry.whole("retryCount");
        }

        @Override
        public int maxRetryCount() {
            return retry.whole("maxRetryCount");
        }

        @Override
        public String metadata(String member) {
            Map<String, Object> all = request.object("triggerMetadata");
            return all.containsKey(member) ? new String(bytes(Json.object(all.get(member))), StandardCharsets.UTF_8) : null;
        }

        @Override
        public void log(String line) {
            link.send("", "rpcLog", Json.map("invocationId", invocationId(), "level", "Information", "message", line, "logCategory", "User"));
        }

        @Override
        public void output(String binding, Object value) {
            outputs.add(Json.map("name", binding, "data", leaving(value)));
        }
    }
}

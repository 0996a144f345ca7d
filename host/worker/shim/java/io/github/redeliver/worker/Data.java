package io.github.redeliver.worker;

import static io.github.redeliver.worker.Json.map;

import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Values as they travel (spec workers-dotnet-java 2.3, 2.4). */
final class Data {
    /** A value as a type of the app. */
    static Object arrived(AppClasses app, Map<String, Object> data, Type type) throws Exception {
        Class<?> raw = Mapper.raw(type);
        String kind = data.isEmpty() ? "" : data.keySet().iterator().next();
        Object value = data.get(kind);
        if (raw == Optional.class) {
            Object inner = arrived(app, data, Mapper.argument(type, 0));
            return Optional.ofNullable(inner);
        }
        switch (kind) {
            case "":
                return null;
            case "http":
                Map<String, Object> request = Json.object(value);
                if (!app.isApi(raw, "HttpRequestMessage")) {
                    throw new IllegalArgumentException("it is an HTTP request, which only an HttpRequestMessage<T> takes: T is the type of its body");
                }
                return request(app, request, Mapper.argument(type, 0));
            case "string":
            case "json":
            case "stream":
                return ofText(app, Json.text(value), type, kind.equals("json"));
            case "int":
            case "double":
                return ofText(app, Json.number(value), type, true);
            case "bytes":
                return ofBytes(app, bytes(value), type);
            case "collectionString":
            case "collectionBytes":
            case "collectionDouble":
            case "collectionSint64":
                return ofList(app, kind, Json.object(value).values(), type);
            default:
                throw new IllegalArgumentException("a value of the kind \"" + kind + "\" needs the official worker");
        }
    }

    private static byte[] bytes(Object value) {
        return Base64.getDecoder().decode(Json.text(value));
    }

    private static Object ofText(AppClasses app, String text, Type type, boolean json) throws Exception {
        Class<?> raw = Mapper.raw(type);
        if (raw == String.class || raw == CharSequence.class) {
            return text;
        }
        if (raw == Object.class && !json) { // the official worker refuses text that is no JSON
            try {
                return app.mapper.read(text, type);
            } catch (Exception plain) {
                return text;
            }
        }
        if (raw == byte[].class) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        if (json && text.trim().equals("null")) {
            return null;
        }
        Object simple = Mapper.simple(raw, text);
        if (simple != null) {
            return simple;
        }
        try {
            return app.mapper.read(text, type);
        } catch (Exception error) {
            Type element = Mapper.element(type);
            if (element == null || Mapper.raw(element) != String.class) {
                throw error;
            }
            List<Object> members = written(text);
            if (members == null && json) {
                throw error;
            }
            return Mapper.collection(type, members == null ? List.of(text) : members);
        }
    }

    /** The members of a JSON array as texts, each as JSON, null where there is none: objects for a list of texts. */
    private static List<Object> written(String text) {
        Object tree;
        try {
            tree = Json.parseLenient(text);
        } catch (IllegalArgumentException none) {
            return null;
        }
        if (!(tree instanceof List)) {
            return null;
        }
        List<Object> members = new ArrayList<>();
        for (Object one : Json.array(tree)) {
            StringBuilder member = new StringBuilder();
            Json.write(member, one, false);
            members.add(member.toString());
        }
        return members;
    }

    private static Object ofBytes(AppClasses app, byte[] bytes, Type type) throws Exception {
        Class<?> raw = Mapper.raw(type);
        if (raw == byte[].class || raw == Object.class) {
            return bytes;
        }
        if (raw == Byte[].class) {
            Byte[] boxed = new Byte[bytes.length];
            Arrays.setAll(boxed, i -> bytes[i]);
            return boxed;
        }
        return ofText(app, new String(bytes, StandardCharsets.UTF_8), type, false);
    }

    private static Object ofList(AppClasses app, String kind, Collection<Object> lists, Type type) throws Exception {
        Class<?> raw = Mapper.raw(type);
        Type element = raw == Object.class ? Object.class : Mapper.element(type);
        List<Object> members = new ArrayList<>();
        for (Object list : lists) {
            for (Object one : Json.array(list)) {
                if (element == null) {
                    members.add(one);
                } else if (kind.equals("collectionBytes")) {
                    members.add(ofBytes(app, bytes(one), element));
                } else {
                    boolean number = !kind.equals("collectionString");
                    members.add(ofText(app, number ? Json.number(one) : Json.text(one), element, number));
                }
            }
        }
        if (element != null) {
            return raw == Object.class ? members : Mapper.collection(type, members);
        }
        StringBuilder text = new StringBuilder();
        Json.write(text, members, false);
        return ofText(app, text.toString(), type, true);
    }

    private static Object request(AppClasses app, Map<String, Object> request, Type bodyType) throws Exception {
        String url = Json.text(request.get("url"));
        Map<String, String> headers = texts(request.get("headers"));
        Map<String, String> query = texts(request.get("query"));
        Object body = arrived(app, Json.object(request.get("body")), bodyType);
        Object verb = null;
        for (Object one : app.api("HttpMethod").getEnumConstants()) {
            if (one.toString().equalsIgnoreCase(Json.text(request.get("method")))) {
                verb = one;
            }
        }
        Object method = verb;
        return app.proxy("HttpRequestMessage", Map.of(
            "getUri", a -> URI.create(url), // here, since a query may hold what a URI does not
            "getHttpMethod", a -> method, "getHeaders", a -> headers, "getQueryParameters", a -> query, "getBody", a -> body,
            "createResponseBuilder", a -> new Answer(app).status(a[0]).self()));
    }

    static Map<String, String> texts(Object message) {
        Map<String, String> out = new LinkedHashMap<>();
        Json.object(message).forEach((name, value) -> out.put(name, Json.text(value)));
        return out;
    }

    /** A value of the app as it travels, null for none. */
    static Map<String, Object> leaving(AppClasses app, Object value) throws Exception {
        if (value == null) {
            return null;
        }
        if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return map("int", value.toString());
        }
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            return map("double", Double.isNaN(number) || Double.isInfinite(number) ? String.valueOf(number) : number);
        }
        if (value instanceof String) {
            return map("string", value);
        }
        if (value instanceof byte[]) {
            return map("bytes", Base64.getEncoder().encodeToString((byte[]) value));
        }
        Class<?> response = app.api("HttpResponseMessage");
        if (response.isInstance(value)) {
            Map<String, Object> headers = map();
            if (Proxy.isProxyClass(value.getClass()) && Proxy.getInvocationHandler(value) instanceof Headed) {
                headers.putAll(((Headed) Proxy.getInvocationHandler(value)).headers);
            }
            Map<String, Object> body = leaving(app, response.getMethod("getBody").invoke(value));
            return map("http", map("statusCode", String.valueOf(response.getMethod("getStatusCode").invoke(value)), "headers", headers, "body", body));
        }
        return map("json", app.mapper.write(value));
    }
}

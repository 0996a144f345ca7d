package io.github.redeliver.testing;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a request has beside its method and its path. */
public final class Request {
    final Map<String, String> headers = new LinkedHashMap<>();
    byte[] body;

    Request() {
    }

    /** The body: bytes and texts as they are, all else as JSON. */
    public Request body(Object body) {
        this.body = Values.encoded(body);
        return this;
    }

    /** A header. */
    public Request header(String name, String value) {
        headers.put(name.equalsIgnoreCase("authorization") ? "X-Redeliver-Authorization" : name, value);
        return this;
    }
}

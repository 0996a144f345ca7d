package io.github.redeliver.testing;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a {@link Handler} of requests answers, when that is more than a body. */
public final class Reply {
    final int status;
    final Object body;
    final Map<String, String> headers = new LinkedHashMap<>();

    private Reply(int status, Object body) {
        this.status = status;
        this.body = body;
    }

    /** An answer; a body that is no text and no bytes is sent as JSON. */
    public static Reply of(int status, Object body) {
        return new Reply(status, body);
    }

    /** With a header. */
    public Reply header(String name, String value) {
        headers.put(name, value);
        return this;
    }
}

package io.github.redeliver.testing;

import java.util.List;
import java.util.Map;

/** The answer to a request. */
public final class Response extends Body {
    private final int status;
    private final Map<String, List<String>> headers;

    Response(int status, Map<String, List<String>> headers, byte[] body) {
        super(body);
        this.status = status;
        this.headers = headers;
    }

    /** The status, such as 200. */
    public int status() {
        return status;
    }

    /** The headers, with names in lower case. */
    public Map<String, List<String>> headers() {
        return headers;
    }

    /** The first value of a header, null for one that is not there. */
    public String header(String name) {
        List<String> values = headers.get(name.toLowerCase(java.util.Locale.ROOT));
        return values == null ? null : values.get(0);
    }
}

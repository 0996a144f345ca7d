package io.github.redeliver.testing;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** The query of a path. */
final class Query {
    private final StringBuilder text = new StringBuilder();

    Query add(String name, Object value) {
        if (value != null) {
            text.append(text.length() == 0 ? '?' : '&').append(escaped(name)).append('=').append(escaped(value.toString()));
        }
        return this;
    }

    static String escaped(String part) {
        return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}

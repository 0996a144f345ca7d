package io.github.redeliver.worker;

import java.util.Map;
import java.util.function.Function;

/** A response, whose headers the interface does not list. */
final class Headed extends Answers {
    final Map<String, String> headers;

    Headed(Map<String, String> headers, Map<String, Function<Object[], Object>> methods) {
        super(methods);
        this.headers = headers;
    }
}

package io.github.redeliver.worker;

import java.util.Map;

/** A function that a host calls. */
public interface Function {
    /** Calls it, and returns what the host is told; an exception is the failure of the call. */
    Map<String, Object> call(Link link, Map<String, Object> request) throws Exception;
}

package io.github.redeliver.testing;

/** What a {@link Handler} is told of its call. */
public interface HandlerContext {
    /** The ID of the call. */
    String invocationId();

    /** The name of the function. */
    String functionName();

    /** The retries before this attempt, 0 in the first. */
    int retryCount();

    /** The retries that the policy allows; 0 without one, -1 for ever. */
    int maxRetryCount();

    /** What the trigger tells beside the item, such as DequeueCount, or a part of a route; null for what it does not. */
    String metadata(String name);

    /** Writes a line to the log of the call. */
    void log(String line);

    /** Sets the value of an output binding. */
    void output(String binding, Object value);
}

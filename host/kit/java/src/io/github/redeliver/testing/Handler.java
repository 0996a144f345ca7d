package io.github.redeliver.testing;

/** A function that a test has written. */
@FunctionalInterface
public interface Handler {
    /** Handles an item. What it returns goes to the binding {@code $return}, or is the answer to a request; an exception fails the attempt. */
    Object handle(Body item, HandlerContext context) throws Exception;
}

package io.github.redeliver.testing;

/** A call, or a handler, took longer than the real limit of the host. */
public final class KitTimeout extends KitException {
    private static final long serialVersionUID = 1;

    KitTimeout(String text) {
        super("timeout", text, "");
    }
}

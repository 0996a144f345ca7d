package io.github.redeliver.worker;

/** An app cannot be run as it is. The message is all that there is to say. */
public final class LoadException extends Exception {
    private static final long serialVersionUID = 1;

    /** Says why. */
    public LoadException(String message) {
        super(message, null, false, false);
    }
}

package io.github.redeliver.testing;

/** The kit refused a call. */
public class KitException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** A word for programs. */
    private final String code;
    /** What helps. */
    private final String hint;

    KitException(String code, String text, String hint) {
        super(hint.isEmpty() ? text : text + "\n" + hint);
        this.code = code;
        this.hint = hint;
    }

    /** A word for programs, such as not_found. */
    public String code() {
        return code;
    }

    /** What helps; may be empty. */
    public String hint() {
        return hint;
    }
}

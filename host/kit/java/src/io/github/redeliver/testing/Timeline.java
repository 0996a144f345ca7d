package io.github.redeliver.testing;

/** What has happened in a test that has failed, beside its failure. */
final class Timeline extends Exception {
    private static final long serialVersionUID = 1;

    Timeline(String text) {
        super(text, null, false, false);
    }
}

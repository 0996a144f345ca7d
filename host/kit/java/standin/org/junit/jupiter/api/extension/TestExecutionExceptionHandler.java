package org.junit.jupiter.api.extension;

/** See ExtensionContext. */
public interface TestExecutionExceptionHandler extends Extension {
    void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable;
}

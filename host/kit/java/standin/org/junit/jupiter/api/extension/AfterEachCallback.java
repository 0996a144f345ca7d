package org.junit.jupiter.api.extension;

/** See ExtensionContext. */
public interface AfterEachCallback extends Extension {
    void afterEach(ExtensionContext context) throws Exception;
}

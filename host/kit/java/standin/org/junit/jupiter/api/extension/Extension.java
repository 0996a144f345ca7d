package org.junit.jupiter.api.extension;

/** See ExtensionContext. */
public interface Extension {
}

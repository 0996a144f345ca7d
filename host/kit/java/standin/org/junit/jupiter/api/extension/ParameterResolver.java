package org.junit.jupiter.api.extension;

/** See ExtensionContext. */
public interface ParameterResolver extends Extension {
    boolean supportsParameter(ParameterContext parameter, ExtensionContext context);

    Object resolveParameter(ParameterContext parameter, ExtensionContext context);
}

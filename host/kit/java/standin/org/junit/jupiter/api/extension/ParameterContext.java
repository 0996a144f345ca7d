package org.junit.jupiter.api.extension;

import java.lang.reflect.Parameter;

/** See ExtensionContext. */
public interface ParameterContext {
    Parameter getParameter();
}

package com.microsoft.azure.functions.spi.inject;

public interface FunctionInstanceInjector {
    <T> T getInstance(Class<T> functionClass) throws Exception;
}

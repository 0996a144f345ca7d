package org.junit.jupiter.api.extension;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.function.Function;

/**
 * What the kit calls of JUnit 5, so that its extension compiles without JUnit, on the machine
 * that packs it too. Nothing of this is packed: a test brings its own JUnit.
 */
public interface ExtensionContext {
    Optional<Method> getTestMethod();

    Method getRequiredTestMethod();

    Class<?> getRequiredTestClass();

    Optional<Throwable> getExecutionException();

    Store getStore(Namespace namespace);

    /** Where an extension keeps what is its own. */
    interface Store {
        <V> V get(Object key, Class<V> type);

        <K, V> V getOrComputeIfAbsent(K key, Function<K, V> make, Class<V> type);
    }

    /** Whose it is. */
    class Namespace {
        public static Namespace create(Object... parts) {
            throw new UnsupportedOperationException();
        }
    }
}

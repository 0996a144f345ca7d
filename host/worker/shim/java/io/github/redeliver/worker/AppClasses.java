package io.github.redeliver.worker;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The classes of an app, and those of the platform that they use. */
public final class AppClasses {
    static final String API = "com.microsoft.azure.functions.";

    final AppLoader loader;
    final Mapper mapper;
    private final Map<String, Class<?>> known = new ConcurrentHashMap<>();
    private final Object injector; // null without one

    /** The classes that a loader finds. */
    public AppClasses(AppLoader loader) throws Exception {
        this.loader = loader;
        mapper = Mapper.of(loader);
        injector = injector();
        noMiddleware();
    }

    Class<?> api(String name) {
        return known.computeIfAbsent(name, n -> {
            try {
                return Class.forName(API + n, true, loader);
            } catch (ClassNotFoundException missing) {
                throw new IllegalStateException("the class path of the app has no class " + API + n);
            }
        });
    }

    boolean isApi(Class<?> type, String name) {
        return type.getName().equals(API + name);
    }

    private Object injector() throws Exception {
        Iterator<?> found = ServiceLoader.load(loader.loadClass(ClassFile.INJECTOR), loader).iterator();
        return found.hasNext() ? found.next() : null;
    }

    /** Code around each call is for the official worker. That of Durable Functions has nothing to do here. */
    private void noMiddleware() throws Exception {
        for (URL file : Collections.list(loader.getResources("META-INF/services/" + API + "internal.spi.middleware.Middleware"))) {
            try (InputStream in = file.openStream()) {
                for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                    String name = line.replaceAll("#.*", "").trim();
                    if (!name.isEmpty() && !name.startsWith("com.microsoft.durabletask.")) {
                        throw new LoadException("the app has the middleware " + name + ", which only the official worker runs: start with --worker official");
                    }
                }
            }
        }
    }

    /** An instance for one call. */
    Object instance(Class<?> of, Constructor<?> constructor) throws Exception {
        if (injector == null) {
            return constructor.newInstance();
        }
        return api("spi.inject.FunctionInstanceInjector").getMethod("getInstance", Class.class).invoke(injector, of);
    }

    boolean injects() {
        return injector != null;
    }

    /** An object of an interface, whose methods do what is given for their names. */
    Class<?> outputType() throws ReflectiveOperationException {
        try {
            return loader.outputType();
        } catch (IOException none) { // it is written to memory
            throw new ReflectiveOperationException(none);
        }
    }

    Object proxy(String name, Map<String, Function<Object[], Object>> methods) {
        return proxy(name, new Answers(methods));
    }

    Object proxy(String name, InvocationHandler answers) {
        return Proxy.newProxyInstance(loader, new Class<?>[] {api(name)}, answers);
    }
}

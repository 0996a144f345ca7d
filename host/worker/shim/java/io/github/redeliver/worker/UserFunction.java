package io.github.redeliver.worker;

import static io.github.redeliver.worker.Json.map;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A function: the method of the app, and where its arguments come from. */
public final class UserFunction implements Function {
    private final AppClasses app;
    final String name;
    private final Method method;
    private final Receiver receiver;
    private final List<Slot> slots = new ArrayList<>();
    private final boolean returns;

    /** Whose method is called. */
    private interface Receiver {
        Object get() throws Exception;
    }

    /** A function of an object; without one each call has an instance of its own. */
    public UserFunction(AppClasses app, String name, Method method, Object receiver, boolean returns) throws LoadException {
        this.app = app;
        this.name = name;
        this.method = method;
        this.returns = returns;
        this.receiver = receiver == null ? receiver(app, method) : () -> receiver;
        method.setAccessible(true);
        for (Parameter parameter : method.getParameters()) {
            slots.add(new Slot(app, method, parameter));
        }
    }

    /** The function that the host tells of. */
    public static UserFunction of(AppClasses app, Map<String, Object> metadata) throws Exception {
        String name = Json.text(metadata.get("name"));
        String entry = Json.text(metadata.get("entryPoint"));
        int dot = entry.lastIndexOf('.');
        if (dot <= 0) {
            throw new LoadException("the entryPoint of function " + name + " is \"" + entry + "\", and has to be the name of a class and a method");
        }
        Class<?> owner;
        try {
            owner = app.loader.loadClass(entry.substring(0, dot));
        } catch (ClassNotFoundException missing) {
            throw new LoadException("the jar has no class " + entry.substring(0, dot) + ", which the entryPoint of function " + name + " names: run \"mvn package\"");
        }
        Method method = method(owner, entry.substring(dot + 1));
        return new UserFunction(app, name, method, null, method.getReturnType() != void.class || Json.object(metadata.get("bindings")).containsKey("$return"));
    }

    private static Receiver receiver(AppClasses app, Method method) throws LoadException {
        if (Modifier.isStatic(method.getModifiers())) {
            return () -> null;
        }
        Class<?> owner = method.getDeclaringClass();
        Constructor<?> constructor = app.injects() ? null : constructor(owner);
        return () -> app.instance(owner, constructor);
    }

    private static Method method(Class<?> owner, String name) throws LoadException {
        List<Method> found = new ArrayList<>();
        try {
            for (Method one : owner.getDeclaredMethods()) {
                if (one.getName().equals(name) && Modifier.isPublic(one.getModifiers()) && !one.isBridge() && !one.isSynthetic()) {
                    found.add(one);
                }
            }
        } catch (NoClassDefFoundError missing) {
            throw new LoadException("class " + owner.getName() + " needs " + missing.getMessage().replace('/', '.') + ", which no jar in lib has");
        }
        if (found.size() != 1) {
            throw new LoadException("class " + owner.getName() + " has " + (found.isEmpty() ? "no public method " : "more than one method ") + name
                + (found.isEmpty() ? "" : ": a function cannot be overloaded"));
        }
        return found.get(0);
    }

    private static Constructor<?> constructor(Class<?> owner) throws LoadException {
        try {
            Constructor<?> found = owner.getDeclaredConstructor();
            if (!Modifier.isAbstract(owner.getModifiers())) {
                found.setAccessible(true);
                return found;
            }
        } catch (NoSuchMethodException none) {
            // below
        }
        throw new LoadException("class " + owner.getName() + " has no constructor without parameters, so that no function of it can be called");
    }

    /** One call, and what comes of it. */
    @Override
    public Map<String, Object> call(Link link, Map<String, Object> request) throws Exception {
        Thread.currentThread().setContextClassLoader(app.loader);
        Call call = new Call(app, link, this, request);
        Object[] arguments = new Object[slots.size()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = slots.get(i).argument(call);
        }
        Object result = method.invoke(receiver.get(), arguments);
        List<Object> outputs = new ArrayList<>();
        for (Map.Entry<String, Object> output : call.outputs.entrySet()) {
            Map<String, Object> data = Data.leaving(app, app.outputType().getMethod("getValue").invoke(output.getValue()));
            if (data != null) {
                outputs.add(map("name", output.getKey(), "data", data));
            }
        }
        return map("result", Failure.SUCCESS, "outputData", outputs, "returnValue", returns ? Data.leaving(app, result) : null);
    }
}

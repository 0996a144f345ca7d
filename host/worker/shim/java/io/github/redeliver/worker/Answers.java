package io.github.redeliver.worker;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.function.Function;

/** The methods of a proxy, by their names. */
class Answers implements InvocationHandler {
    private final Map<String, Function<Object[], Object>> methods;

    Answers(Map<String, Function<Object[], Object>> methods) {
        this.methods = methods;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        Function<Object[], Object> answer = methods.get(method.getName());
        if (answer != null) {
            return answer.apply(arguments);
        }
        switch (method.getName()) {
            case "toString":
                return proxy.getClass().getInterfaces()[0].getSimpleName() + "@" + Integer.toHexString(System.identityHashCode(proxy));
            case "hashCode":
                return System.identityHashCode(proxy);
            case "equals":
                return proxy == arguments[0];
            default:
        }
        if (method.isDefault()) {
            return byDefault(proxy, method, arguments);
        }
        throw new UnsupportedOperationException(method + " is not there in this worker; the official worker may have it");
    }

    private static Object byDefault(Object proxy, Method method, Object[] arguments) throws Throwable {
        Method call;
        try { // since Java 16
            call = InvocationHandler.class.getMethod("invokeDefault", Object.class, Method.class, Object[].class);
        } catch (NoSuchMethodException earlier) {
            Class<?> owner = method.getDeclaringClass();
            return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).unreflectSpecial(method, owner).bindTo(proxy)
                .invokeWithArguments(arguments == null ? new Object[0] : arguments);
        }
        try {
            return call.invoke(null, proxy, method, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }
}

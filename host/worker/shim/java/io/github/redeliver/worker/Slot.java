package io.github.redeliver.worker;

import java.lang.annotation.Annotation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.util.Arrays;

/** Where an argument comes from (spec workers-dotnet-java 2.4). */
final class Slot {
    private enum Source { INPUT, OUTPUT, METADATA, CONTEXT }

    private final Source source;
    private final String name;
    private final Type type;

    Slot(AppClasses app, Method method, Parameter parameter) throws LoadException {
        type = parameter.getParameterizedType();
        String binding = null;
        String metadata = null;
        for (Annotation one : parameter.getAnnotations()) {
            Class<?> kind = one.annotationType();
            if (kind.getName().equals(AppClasses.API + "annotation.BindingName")) {
                metadata = member(one, "value");
            } else if (kind.getName().startsWith(AppClasses.API + "annotation.")
                || Arrays.stream(kind.getAnnotations()).anyMatch(a -> a.annotationType().getName().equals(AppClasses.API + "annotation.CustomBinding"))) {
                binding = member(one, "name");
            }
        }
        if (binding != null && app.isApi(parameter.getType(), "OutputBinding")) {
            source = Source.OUTPUT;
        } else if (binding != null) {
            source = Source.INPUT;
        } else if (metadata != null) {
            source = Source.METADATA;
        } else if (app.isApi(parameter.getType(), "ExecutionContext")) {
            source = Source.CONTEXT;
        } else {
            throw new LoadException("the parameter " + parameter.getType().getSimpleName() + " " + parameter.getName() + " of " + method.getDeclaringClass().getName() + "."
                + method.getName() + " has no annotation that names a binding, or the jar azure-functions-java-library, which has the annotations, is not in lib");
        }
        name = binding == null ? metadata : binding;
        String wanted = Mapper.raw(type == null || Mapper.element(type) == null ? type : Mapper.element(type)).getName();
        if (source == Source.INPUT && wanted.startsWith("com.azure.")) {
            throw new LoadException("the parameter \"" + name + "\" of " + method.getDeclaringClass().getName() + "." + method.getName() + " has the type " + wanted
                + " of an SDK, which only the official worker gives: take a text, bytes or a class of the app, or start with --worker official");
        }
    }

    private static String member(Annotation of, String name) {
        try {
            Method method = of.annotationType().getMethod(name);
            method.setAccessible(true);
            return String.valueOf(method.invoke(of));
        } catch (ReflectiveOperationException none) {
            return null;
        }
    }

    Object argument(Call call) throws Exception {
        switch (source) {
            case CONTEXT:
                return call.context();
            case OUTPUT:
                return call.output(name);
            case INPUT:
                if (!call.inputs.containsKey(name)) {
                    throw new IllegalArgumentException("there is no input \"" + name + "\" for this call");
                }
                return converted(call, call.inputs.get(name));
            default:
                if (!call.metadata.containsKey(name)) {
                    throw new IllegalArgumentException("the trigger has no metadata \"" + name + "\" for the parameter with @BindingName(\"" + name + "\")");
                }
                return converted(call, call.metadata.get(name));
        }
    }

    private Object converted(Call call, Object data) throws Exception {
        Object value;
        try {
            value = Data.arrived(call.app, Json.object(data), type);
        } catch (InvocationTargetException error) {
            throw new IllegalArgumentException("the value of \"" + name + "\" is no " + type.getTypeName() + ": " + error.getCause(), error.getCause());
        } catch (RuntimeException error) {
            throw new IllegalArgumentException("the value of \"" + name + "\" is no " + type.getTypeName() + ": " + error.getMessage(), error);
        }
        if (value == null && type instanceof Class && ((Class<?>) type).isPrimitive()) {
            throw new IllegalArgumentException("there is no value of \"" + name + "\" for a parameter of the type " + type.getTypeName());
        }
        return value;
    }
}

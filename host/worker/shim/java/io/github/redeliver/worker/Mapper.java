package io.github.redeliver.worker;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;

/** JSON of the app's objects: Gson's, where the app has it, so that names and forms are those of the official worker. */
public abstract class Mapper {
    /** JSON as a type. */
    public abstract Object read(String text, Type type) throws Exception;

    abstract String write(Object value) throws Exception;

    /** A value as JSON, by its fields, with nothing of HTML escaped. */
    public static String json(Object value) {
        StringBuilder out = new StringBuilder();
        Json.write(out, Fields.tree(value, 0), false);
        return out.toString();
    }

    /** Gson, where a loader has it. */
    public static Mapper of(ClassLoader loader) throws ReflectiveOperationException {
        Class<?> gson;
        try {
            gson = loader.loadClass("com.google.gson.Gson");
        } catch (ClassNotFoundException none) {
            return new Fields();
        }
        Object instance = gson.getConstructor().newInstance();
        Method from = gson.getMethod("fromJson", String.class, Type.class);
        Method to = gson.getMethod("toJson", Object.class);
        return new Mapper() {
            @Override
            public Object read(String text, Type type) throws Exception {
                return from.invoke(instance, text, type);
            }

            @Override
            String write(Object value) throws Exception {
                return (String) to.invoke(instance, value);
            }
        };
    }

    static Class<?> raw(Type type) {
        if (type instanceof Class) {
            return (Class<?>) type;
        }
        if (type instanceof ParameterizedType) {
            return raw(((ParameterizedType) type).getRawType());
        }
        if (type instanceof GenericArrayType) {
            return Array.newInstance(raw(((GenericArrayType) type).getGenericComponentType()), 0).getClass();
        }
        if (type instanceof WildcardType) {
            return raw(((WildcardType) type).getUpperBounds()[0]);
        }
        if (type instanceof TypeVariable) {
            return raw(((TypeVariable<?>) type).getBounds()[0]);
        }
        return Object.class;
    }

    /** The argument of a generic type, Object where none is given. */
    static Type argument(Type type, int number) {
        if (type instanceof ParameterizedType) {
            Type[] given = ((ParameterizedType) type).getActualTypeArguments();
            if (number < given.length) {
                return given[number] instanceof WildcardType ? ((WildcardType) given[number]).getUpperBounds()[0] : given[number];
            }
        }
        return Object.class;
    }

    /** The type of the members of a collection or an array, null for other types. */
    static Type element(Type type) {
        Class<?> raw = raw(type);
        if (type instanceof GenericArrayType) {
            return ((GenericArrayType) type).getGenericComponentType();
        }
        if (raw.isArray()) {
            return raw.getComponentType();
        }
        return Collection.class.isAssignableFrom(raw) || raw == Iterable.class ? argument(type, 0) : null;
    }

    /** A number, a boolean, a character or an enum's value in a text, null for other types. */
    static Object simple(Class<?> type, String text) {
        try {
            return parsed(type, text);
        } catch (NumberFormatException | ArithmeticException none) {
            throw new IllegalArgumentException("\"" + text + "\" is no " + type.getSimpleName());
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object parsed(Class<?> type, String text) {
        String plain = unquoted(text.trim());
        if (type == boolean.class || type == Boolean.class) {
            if (!plain.equalsIgnoreCase("true") && !plain.equalsIgnoreCase("false")) {
                throw new IllegalArgumentException("\"" + text + "\" is neither true nor false");
            }
            return Boolean.valueOf(plain);
        }
        if (type == char.class || type == Character.class) {
            if (text.length() != 1) {
                throw new IllegalArgumentException("\"" + text + "\" is not one character");
            }
            return text.charAt(0);
        }
        if (type == int.class || type == Integer.class) {
            return new BigDecimal(plain).intValueExact();
        }
        if (type == long.class || type == Long.class) {
            return new BigDecimal(plain).longValueExact();
        }
        if (type == short.class || type == Short.class) {
            return new BigDecimal(plain).shortValueExact();
        }
        if (type == byte.class || type == Byte.class) {
            return new BigDecimal(plain).byteValueExact();
        }
        if (type == double.class || type == Double.class) {
            return Double.valueOf(plain);
        }
        if (type == float.class || type == Float.class) {
            return Float.valueOf(plain);
        }
        if (type == BigDecimal.class || type == Number.class) {
            return new BigDecimal(plain);
        }
        if (type == BigInteger.class) {
            return new BigInteger(plain);
        }
        if (type == UUID.class) {
            return UUID.fromString(plain);
        }
        if (type.isEnum()) {
            return Enum.valueOf((Class<Enum>) type, plain);
        }
        return null;
    }

    private static String unquoted(String text) {
        return text.length() > 1 && text.startsWith("\"") && text.endsWith("\"") ? text.substring(1, text.length() - 1) : text;
    }

    /** Members as a collection or array of a type. */
    static Object collection(Type type, List<?> members) {
        Class<?> raw = raw(type);
        if (raw.isArray()) {
            Object array = Array.newInstance(raw.getComponentType(), members.size());
            for (int i = 0; i < members.size(); i++) {
                Array.set(array, i, members.get(i));
            }
            return array;
        }
        Collection<Object> out;
        if (!raw.isInterface() && !Modifier.isAbstract(raw.getModifiers())) {
            out = instance(raw);
        } else if (raw.isAssignableFrom(ArrayList.class)) {
            out = new ArrayList<>();
        } else if (raw == SortedSet.class || raw == java.util.NavigableSet.class) {
            out = new TreeSet<>();
        } else if (raw == Set.class) {
            out = new LinkedHashSet<>();
        } else if (raw == Queue.class || raw == Deque.class) {
            out = new ArrayDeque<>();
        } else {
            throw new IllegalArgumentException("there is no way to make a " + raw.getName());
        }
        out.addAll(members);
        return out;
    }

    @SuppressWarnings("unchecked")
    static <T> T instance(Class<?> type) {
        try {
            Constructor<?> plain = type.getDeclaredConstructor();
            plain.setAccessible(true);
            return (T) plain.newInstance();
        } catch (NoSuchMethodException none) {
            return (T) unconstructed(type);
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException("no " + type.getName() + " can be made: " + error, error);
        }
    }

    /** An object whose class has no constructor without parameters: Gson makes it like this, too. */
    private static Object unconstructed(Class<?> type) {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field one = unsafe.getDeclaredField("theUnsafe");
            one.setAccessible(true);
            return unsafe.getMethod("allocateInstance", Class.class).invoke(one.get(null), type);
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException("class " + type.getName() + " has no constructor without parameters", error);
        }
    }
}

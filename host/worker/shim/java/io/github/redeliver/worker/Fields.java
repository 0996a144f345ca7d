package io.github.redeliver.worker;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.net.URI;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

/** The mapper for apps without Gson, by the same rules: fields, not setters; null is left out. */
final class Fields extends Mapper {
    @Override
    public Object read(String text, Type type) {
        return of(Json.parseLenient(text), type, Map.of(), "$");
    }

    @Override
    String write(Object value) {
        StringBuilder out = new StringBuilder();
        Json.write(out, tree(value, 0), true);
        return out.toString();
    }

    private static Type resolved(Type type, Map<TypeVariable<?>, Type> variables) {
        if (type instanceof TypeVariable) {
            return variables.getOrDefault(type, ((TypeVariable<?>) type).getBounds()[0]);
        }
        return type instanceof WildcardType ? resolved(((WildcardType) type).getUpperBounds()[0], variables) : type;
    }

    private static Object of(Object tree, Type given, Map<TypeVariable<?>, Type> variables, String at) {
        Type type = resolved(given, variables);
        Class<?> raw = raw(type);
        if (raw == Optional.class) {
            return Optional.ofNullable(tree == null ? null : of(tree, argument(type, 0), variables, at));
        }
        if (tree == null) {
            return null;
        }
        if (raw == Object.class) {
            return plain(tree);
        }
        try {
            if (!(tree instanceof Map) && !(tree instanceof List)) {
                if (raw == String.class || raw == CharSequence.class) {
                    return tree.toString();
                }
                Object simple = simple(raw, tree.toString());
                if (simple != null) {
                    return simple;
                }
                if (raw == URI.class) {
                    return URI.create(tree.toString());
                }
            }
        } catch (IllegalArgumentException error) {
            throw new IllegalArgumentException("at " + at + ": " + error.getMessage(), error);
        }
        Type element = element(type);
        if (element != null) {
            List<Object> members = new ArrayList<>();
            for (Object one : expect(tree, List.class, at, "an array")) {
                members.add(of(one, element, variables, at + "[" + members.size() + "]"));
            }
            return collection(type, members);
        }
        Map<?, ?> object = expect(tree, Map.class, at, "an object");
        if (Map.class.isAssignableFrom(raw)) {
            Map<Object, Object> out = raw == SortedMap.class ? new TreeMap<>() : raw.isInterface() ? new LinkedHashMap<>() : instance(raw);
            for (Map.Entry<?, ?> one : object.entrySet()) {
                out.put(of(one.getKey(), argument(type, 0), variables, at), of(one.getValue(), argument(type, 1), variables, at + "." + one.getKey()));
            }
            return out;
        }
        if (raw.isInterface() || Modifier.isAbstract(raw.getModifiers()) || raw.isPrimitive() || raw.getClassLoader() == null) {
            throw new IllegalArgumentException("at " + at + ": no " + type.getTypeName() + " can be made of JSON without Gson: add com.google.code.gson:gson to the app");
        }
        return object(object, type, raw, variables, at);
    }

    private static <T> T expect(Object tree, Class<T> type, String at, String words) {
        if (!type.isInstance(tree)) {
            throw new IllegalArgumentException("at " + at + ": " + words + " is expected, and it is " + (tree instanceof Map ? "an object" : tree instanceof List ? "an array" : tree));
        }
        return type.cast(tree);
    }

    /** JSON as plain objects; all numbers are Double, as with Gson. */
    private static Object plain(Object tree) {
        if (tree instanceof Map) {
            Map<String, Object> out = new LinkedHashMap<>();
            Json.object(tree).forEach((name, value) -> out.put(name, plain(value)));
            return out;
        }
        if (tree instanceof List) {
            return ((List<?>) tree).stream().map(Fields::plain).collect(Collectors.toCollection(ArrayList::new));
        }
        return tree instanceof Number ? (Object) ((Number) tree).doubleValue() : tree;
    }

    private static Object object(Map<?, ?> tree, Type type, Class<?> raw, Map<TypeVariable<?>, Type> outer, String at) {
        Map<TypeVariable<?>, Type> variables = new HashMap<>(outer);
        bind(type, raw, variables);
        if (raw.getSuperclass() != null && raw.getSuperclass().getName().equals("java.lang.Record")) {
            return record(tree, raw, variables, at);
        }
        Object made = instance(raw);
        for (Class<?> part = raw; part != null && part != Object.class; part = part.getSuperclass()) {
            for (Field field : fields(part)) {
                if (tree.containsKey(field.getName())) {
                    Object value = of(tree.get(field.getName()), field.getGenericType(), variables, at + "." + field.getName());
                    try {
                        if (value != null || !field.getType().isPrimitive()) {
                            field.set(made, value);
                        }
                    } catch (IllegalAccessException error) {
                        throw new IllegalArgumentException("at " + at + "." + field.getName() + ": " + error.getMessage(), error);
                    }
                }
            }
            bind(part.getGenericSuperclass(), part.getSuperclass(), variables);
        }
        return made;
    }

    private static void bind(Type type, Class<?> raw, Map<TypeVariable<?>, Type> variables) {
        if (type instanceof ParameterizedType && raw != null) {
            TypeVariable<?>[] names = raw.getTypeParameters();
            for (int i = 0; i < names.length; i++) {
                variables.put(names[i], resolved(((ParameterizedType) type).getActualTypeArguments()[i], variables));
            }
        }
    }

    private static Object record(Map<?, ?> tree, Class<?> raw, Map<TypeVariable<?>, Type> variables, String at) {
        List<Field> parts = fields(raw);
        Object[] arguments = new Object[parts.size()];
        for (int i = 0; i < arguments.length; i++) {
            Field part = parts.get(i);
            arguments[i] = of(tree.get(part.getName()), part.getGenericType(), variables, at + "." + part.getName());
            if (arguments[i] == null && part.getType().isPrimitive()) {
                arguments[i] = Array.get(Array.newInstance(part.getType(), 1), 0);
            }
        }
        try {
            Constructor<?> all = raw.getDeclaredConstructor(parts.stream().map(Field::getType).toArray(Class<?>[]::new));
            all.setAccessible(true);
            return all.newInstance(arguments);
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException("at " + at + ": no " + raw.getName() + " can be made: " + error, error);
        }
    }

    /** The fields that count, in their order. */
    private static List<Field> fields(Class<?> of) {
        List<Field> out = new ArrayList<>();
        for (Field field : of.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers()) && !Modifier.isTransient(field.getModifiers()) && !field.isSynthetic()) {
                try {
                    field.setAccessible(true);
                } catch (RuntimeException closed) {
                    throw new IllegalArgumentException("the fields of " + of.getName() + " are closed to JSON: use a class of the app", closed);
                }
                out.add(field);
            }
        }
        return out;
    }

    private static final int DEEPEST = 500;

    /** An object of the app as plain maps and lists. */
    static Object tree(Object value, int depth) {
        if (depth > DEEPEST) {
            throw new IllegalArgumentException("an object refers to itself, or is nested more than " + DEEPEST + " times: it has no JSON form");
        }
        if (value instanceof Double && (((Double) value).isNaN() || ((Double) value).isInfinite()) || value instanceof Float && (((Float) value).isNaN() || ((Float) value).isInfinite())) {
            throw new IllegalArgumentException(value + " has no form in JSON");
        }
        if (value == null || value instanceof String || value instanceof Number || value instanceof Boolean) {
            return value;
        }
        if (value instanceof Enum) {
            return ((Enum<?>) value).name();
        }
        if (value instanceof CharSequence || value instanceof Character || value instanceof UUID || value instanceof URI || value instanceof URL) {
            return value.toString();
        }
        if (value instanceof Optional) {
            return tree(((Optional<?>) value).orElse(null), depth + 1);
        }
        List<Object> members = new ArrayList<>();
        if (value.getClass().isArray()) {
            for (int i = 0; i < Array.getLength(value); i++) {
                members.add(tree(Array.get(value, i), depth + 1));
            }
            return members;
        }
        if (value instanceof Collection) {
            for (Object one : (Collection<?>) value) {
                members.add(tree(one, depth + 1));
            }
            return members;
        }
        Map<String, Object> out = new LinkedHashMap<>();
        if (value instanceof Map) {
            ((Map<?, ?>) value).forEach((name, one) -> put(out, String.valueOf(name), tree(one, depth + 1)));
            return out;
        }
        List<Class<?>> line = new ArrayList<>();
        for (Class<?> part = value.getClass(); part != null && part != Object.class; part = part.getSuperclass()) {
            line.add(part);
        }
        for (Class<?> part : line) {
            for (Field field : fields(part)) {
                try {
                    put(out, field.getName(), tree(field.get(value), depth + 1));
                } catch (IllegalAccessException error) {
                    throw new IllegalArgumentException(error);
                }
            }
        }
        return out;
    }

    private static void put(Map<String, Object> out, String name, Object value) {
        if (value != null) {
            out.put(name, value);
        }
    }
}

package io.github.redeliver.testing;

import io.github.redeliver.worker.AppClasses;
import io.github.redeliver.worker.AppLoader;
import io.github.redeliver.worker.Json;
import io.github.redeliver.worker.LoadException;
import io.github.redeliver.worker.UserFunction;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A function that a class declares by annotations, which are read as the platform's build does (spec workers-dotnet-java 2.1). */
final class Declared {
    private static final String LIBRARY = "com.microsoft.azure.functions.annotation.";
    private static final ClassValue<AppClasses> CLASSES = new ClassValue<>() {
        @Override
        protected AppClasses computeValue(Class<?> of) {
            try {
                return new AppClasses(new AppLoader(new URL[0], of.getClassLoader()));
            } catch (Exception error) {
                throw new KitException("app_invalid", "the functions of " + of.getName() + " cannot be called: " + error.getMessage(), "");
            }
        }
    };

    final String name;
    final Map<String, Object> metadata;
    final UserFunction function;

    private Declared(String name, Map<String, Object> metadata, UserFunction function) {
        this.name = name;
        this.metadata = metadata;
        this.function = function;
    }

    /** The functions of a class, whose objects are made for each call, or of an object. */
    static List<Declared> of(Object classOrObject) {
        Class<?> owner = classOrObject instanceof Class ? (Class<?>) classOrObject : classOrObject.getClass();
        List<Declared> out = new ArrayList<>();
        for (Method method : owner.getMethods()) {
            Annotation named = found(method, "FunctionName");
            if (named != null && !method.isBridge()) {
                out.add(of(String.valueOf(member(named, "value")), method, classOrObject == owner ? null : classOrObject));
            }
        }
        if (out.isEmpty()) {
            throw new KitException("no_functions", owner.getName() + " has no public method with @FunctionName", "attach the class of the functions, or an object of it");
        }
        out.sort(Comparator.comparing(one -> one.name));
        return out;
    }

    private static Declared of(String name, Method method, Object receiver) {
        List<Map<String, Object>> bindings = new ArrayList<>();
        Map<String, Object> retry = null;
        for (Parameter parameter : method.getParameters()) {
            for (Annotation one : parameter.getAnnotations()) {
                add(bindings, one, null, account(parameter, method));
            }
        }
        for (Annotation one : method.getAnnotations()) {
            if (one.annotationType().getName().matches(Pattern.quote(LIBRARY) + "(FixedDelay|ExponentialBackoff)Retry")) {
                retry = policy(name, members(one));
            }
            add(bindings, one, "$return", account(method, method));
        }
        boolean returns = method.getReturnType() != void.class;
        if (returns && bindings.stream().anyMatch(one -> one.get("type").equals("httpTrigger"))) {
            bindings.add(Json.map("type", "http", "direction", "out", "name", "$return"));
        }
        try {
            UserFunction function = new UserFunction(CLASSES.get(method.getDeclaringClass()), name, method, receiver, returns || named(bindings).containsKey("$return"));
            Map<String, Object> metadata = metadata(name, method.getDeclaringClass().getName() + "." + method.getName(), bindings);
            if (retry != null) {
                metadata.put("retryOptions", retry);
            }
            return new Declared(name, metadata, function);
        } catch (LoadException error) {
            throw new KitException("app_invalid", "function " + name + ": " + error.getMessage(), "");
        }
    }

    /** A function as a worker declares it. */
    static Map<String, Object> metadata(String name, String entryPoint, List<Map<String, Object>> bindings) {
        List<Object> raw = new ArrayList<>();
        bindings.forEach(one -> raw.add(Values.text(one)));
        return Json.map("name", name, "functionId", name, "directory", System.getProperty("user.dir"), "scriptFile", "test.jar", "entryPoint", entryPoint, "language", "java",
            "rawBindings", raw, "bindings", named(bindings));
    }

    private static Map<String, Object> named(List<Map<String, Object>> bindings) {
        Map<String, Object> out = new LinkedHashMap<>();
        bindings.forEach(one -> out.put(Json.text(one.get("name")), Json.map("type", one.get("type"), "direction", one.get("direction"))));
        return out;
    }

    private static void add(List<Map<String, Object>> bindings, Annotation one, String name, String account) {
        Annotation custom = custom(one);
        String kind = one.annotationType().getSimpleName();
        boolean known = one.annotationType().getName().startsWith(LIBRARY) && kind.matches(".+(Trigger|Input|Output)");
        if (custom == null && !known) {
            return;
        }
        Map<String, Object> said = members(one);
        if (custom == null) {
            String type = kind.replaceAll("(Input|Output)$", "").replaceAll("^(ServiceBus)(Queue|Topic)", "$1");
            said.put("type", type.substring(0, 1).toLowerCase(Locale.ROOT) + type.substring(1));
            said.put("direction", kind.endsWith("Output") ? "out" : "in");
        } else {
            said.put("type", member(custom, "type"));
            said.put("direction", String.valueOf(member(custom, "direction")).toLowerCase(Locale.ROOT));
            said.putIfAbsent("name", member(custom, "name"));
        }
        if (name != null) {
            said.put("name", name);
        }
        if (account != null && said.getOrDefault("connection", "").equals("") && kind.matches("(Blob|Queue|Table).*")) {
            said.put("connection", account);
        }
        bindings.add(said);
    }

    private static Annotation custom(Annotation one) {
        if (one.annotationType().getName().equals(LIBRARY + "CustomBinding")) {
            return one;
        }
        return found(one.annotationType(), "CustomBinding");
    }

    private static Annotation found(AnnotatedElement on, String kind) {
        for (Annotation one : on.getAnnotations()) {
            if (one.annotationType().getName().equals(LIBRARY + kind)) {
                return one;
            }
        }
        return null;
    }

    /** The storage account of a binding: of its parameter, or its method. */
    private static String account(AnnotatedElement first, Method method) {
        for (AnnotatedElement on : List.of(first, method)) {
            Annotation found = found(on, "StorageAccount");
            if (found != null) {
                return String.valueOf(member(found, "value"));
            }
        }
        return null;
    }

    /** What an annotation says that differs from what it says by itself. */
    private static Map<String, Object> members(Annotation one) {
        Map<String, Object> out = new TreeMap<>();
        boolean retry = one.annotationType().getSimpleName().endsWith("Retry");
        for (Method member : one.annotationType().getDeclaredMethods()) {
            Object value = member(one, member.getName());
            boolean always = retry || member.getName().equals("authLevel") || member.getName().equals("cardinality") && one.annotationType().getSimpleName().startsWith("EventHub");
            if (always || !Arrays.deepEquals(new Object[] {value}, new Object[] {member.getDefaultValue()})) {
                out.put(member.getName(), value);
            }
        }
        return out;
    }

    private static Object member(Annotation of, String name) {
        try {
            Method method = of.annotationType().getMethod(name);
            method.setAccessible(true);
            return method.invoke(of);
        } catch (NoSuchMethodException none) {
            return null;
        } catch (IllegalAccessException | InvocationTargetException error) {
            throw new IllegalStateException(error);
        }
    }

    /** A policy as a worker declares it. */
    private static Map<String, Object> policy(String function, Map<String, Object> said) {
        boolean fixed = "fixedDelay".equals(said.get("strategy"));
        Map<String, Object> out = Json.map("maxRetryCount", said.get("maxRetryCount"), "retryStrategy", fixed ? "fixed_delay" : "exponential_backoff");
        for (String member : fixed ? List.of("delayInterval") : List.of("minimumInterval", "maximumInterval")) {
            out.put(member, seconds(function, member, String.valueOf(said.get(member))));
        }
        return out;
    }

    private static final Pattern SPAN = Pattern.compile("(?:(\\d+)\\.)?(\\d{1,2}):(\\d{1,2}):(\\d{1,2})(\\.\\d{1,7})?");

    private static String seconds(String function, String member, String text) {
        Matcher parts = SPAN.matcher(text);
        if (!parts.matches()) {
            throw new KitException("app_invalid", "function " + function + ": " + member + " of the retry policy is \"" + text + "\", and has to be a time such as \"00:00:10\"", "");
        }
        long days = parts.group(1) == null ? 0 : Long.parseLong(parts.group(1));
        long seconds = ((days * 24 + Long.parseLong(parts.group(2))) * 60 + Long.parseLong(parts.group(3))) * 60 + Long.parseLong(parts.group(4));
        return seconds + (parts.group(5) == null ? "" : parts.group(5)) + "s";
    }
}

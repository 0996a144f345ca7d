import java.io.File;
import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes the function.json of annotated classes, as the platform's plugin for Maven does (spec workers-dotnet-java 2.1). */
public class Stage {
    private static final String ANNOTATIONS = "com.microsoft.azure.functions.annotation.";

    /** Arguments: the folder of the classes, the name of the jar, the folder of the app. */
    public static void main(String[] args) throws Exception {
        Path classes = Path.of(args[0]);
        List<Path> files;
        try (Stream<Path> found = Files.walk(classes)) {
            files = found.filter(f -> f.toString().endsWith(".class")).sorted().collect(Collectors.toList());
        }
        for (Path file : files) {
            String name = classes.relativize(file).toString().replace(File.separatorChar, '.').replaceAll("\\.class$", "");
            for (Method method : Class.forName(name).getMethods()) {
                for (Annotation one : method.getAnnotations()) {
                    if (one.annotationType().getName().equals(ANNOTATIONS + "FunctionName")) {
                        write(method, (String) one.annotationType().getMethod("value").invoke(one), args[1], Path.of(args[2]));
                    }
                }
            }
        }
    }

    private static void write(Method method, String name, String jar, Path app) throws ReflectiveOperationException, IOException {
        List<String> bindings = new ArrayList<>();
        String retry = "";
        boolean http = false;
        for (Parameter parameter : method.getParameters()) {
            for (Annotation one : parameter.getAnnotations()) {
                http |= add(bindings, one, null);
            }
        }
        for (Annotation one : method.getAnnotations()) {
            String kind = one.annotationType().getSimpleName();
            if (kind.endsWith("Retry")) {
                retry = ",\"retry\":" + json(members(one, Map.of()));
            } else {
                add(bindings, one, "$return");
            }
        }
        if (http && method.getReturnType() != void.class) {
            bindings.add("{\"type\":\"http\",\"direction\":\"out\",\"name\":\"$return\"}");
        }
        Path folder = Files.createDirectories(app.resolve(name));
        Files.writeString(folder.resolve("function.json"), "{\"scriptFile\":\"../" + jar + "\",\"entryPoint\":\"" + method.getDeclaringClass().getName() + "." + method.getName()
            + "\",\"bindings\":[" + String.join(",", bindings) + "]" + retry + "}");
    }

    /** Adds the binding of an annotation, and reports whether that is an HTTP trigger. */
    private static boolean add(List<String> bindings, Annotation one, String name) throws ReflectiveOperationException {
        String kind = one.annotationType().getSimpleName();
        if (!one.annotationType().getName().startsWith(ANNOTATIONS) || !kind.matches(".*(Trigger|Input|Output)")) {
            return false;
        }
        String type = kind.replaceAll("(Input|Output)$", "").replaceAll("^(ServiceBus)(Queue|Topic)", "$1");
        Map<String, Object> said = new TreeMap<>(Map.of("type", type.substring(0, 1).toLowerCase() + type.substring(1), "direction", kind.endsWith("Output") ? "out" : "in"));
        if (name != null) {
            said.put("name", name);
        }
        bindings.add(json(members(one, said)));
        return kind.equals("HttpTrigger");
    }

    private static Map<String, Object> members(Annotation one, Map<String, Object> said) throws ReflectiveOperationException {
        Map<String, Object> out = new TreeMap<>();
        for (Method member : one.annotationType().getDeclaredMethods()) {
            Object value = member.invoke(one);
            boolean retry = one.annotationType().getSimpleName().endsWith("Retry");
            if (retry || member.getName().equals("authLevel") || !Arrays.deepEquals(new Object[] {value}, new Object[] {member.getDefaultValue()})) {
                out.put(member.getName(), value);
            }
        }
        out.putAll(said);
        return out;
    }

    private static String json(Object value) {
        if (value instanceof Map) {
            return ((Map<?, ?>) value).entrySet().stream().map(e -> json(e.getKey()) + ":" + json(e.getValue())).collect(Collectors.joining(",", "{", "}"));
        }
        if (value.getClass().isArray()) {
            List<String> members = new ArrayList<>();
            for (int i = 0; i < Array.getLength(value); i++) {
                members.add(json(Array.get(value, i)));
            }
            return members.toString();
        }
        return value instanceof Number || value instanceof Boolean ? value.toString() : "\"" + value.toString().replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}

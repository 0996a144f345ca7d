package io.github.redeliver.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every public name of the kit is in a test. */
class NamesTest {
    /** What the language or JUnit calls. */
    private static final Set<String> CALLED = Set.of("handleTestExecutionException", "afterEach", "supportsParameter", "resolveParameter", "close", "handle");

    @Test
    void everyNameIsInATest() throws Exception {
        String tests = text(Path.of(""), "NamesTest.java");
        Set<String> missing = new TreeSet<>();
        int classes = 0;
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("kit.sources")))) {
            for (Path file : files.collect(Collectors.toList())) {
                Class<?> of = Class.forName("io.github.redeliver.testing." + file.getFileName().toString().replace(".java", ""));
                if (!Modifier.isPublic(of.getModifiers())) {
                    continue;
                }
                classes++;
                for (Method method : of.getDeclaredMethods()) {
                    String name = method.getName();
                    if (Modifier.isPublic(method.getModifiers()) && !method.isSynthetic() && !CALLED.contains(name) && !Pattern.compile("\\b" + name + "\\b").matcher(tests).find()) {
                        missing.add(of.getSimpleName() + "." + name);
                    }
                }
            }
        }
        assertTrue(classes > 20);
        assertEquals(Set.of(), missing);
    }

    private static String text(Path folder, String but) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> sources = files.filter(f -> f.toString().endsWith(".java") && !f.endsWith(but)).collect(Collectors.toList());
            StringBuilder out = new StringBuilder();
            for (Path source : sources) {
                out.append(Files.readString(source));
            }
            return out.toString();
        }
    }
}

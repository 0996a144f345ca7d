package io.github.redeliver.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** The command that runs a test again. */
final class Again {
    private Again() {
    }

    /** How the same run is had again: with the seed, and the command of the build in the working directory, of the test of that name (class.method). */
    static String text(Path folder, long seed, Object name) {
        String test = name == null ? "" : name.toString();
        int dot = test.lastIndexOf('.');
        String command = "";
        if (Files.isRegularFile(folder.resolve("pom.xml"))) {
            command = (Files.isRegularFile(folder.resolve("mvnw")) ? " ./mvnw" : " mvn") + " test" + (dot < 0 ? "" : " '-Dtest=" + test.substring(0, dot) + "#" + test.substring(dot + 1) + "'");
        } else if (Files.isRegularFile(folder.resolve("build.gradle")) || Files.isRegularFile(folder.resolve("build.gradle.kts"))) {
            command = (Files.isRegularFile(folder.resolve("gradlew")) ? " ./gradlew" : " gradle") + " test" + (dot < 0 ? "" : " --tests '" + test + "'");
        }
        return "seed " + seed + "; again with REDELIVER_SEED=" + seed + command;
    }

    /** The test that calls, as class.method: the outermost method below those of the test's framework that is of the caller's own class. */
    static String test() {
        return StackWalker.getInstance().walk(frames -> frames
            .filter(frame -> !frame.getClassName().startsWith("io.github.redeliver.testing.") || frame.getClassName().endsWith("Test"))
            .takeWhile(frame -> !frame.getClassName().startsWith("java.") && !frame.getClassName().startsWith("jdk.") && !frame.getClassName().startsWith("org.junit."))
            .filter(frame -> !frame.getMethodName().contains("$"))
            .reduce((inner, outer) -> outer)
            .map(frame -> frame.getClassName() + "." + frame.getMethodName()).orElse(null));
    }
}

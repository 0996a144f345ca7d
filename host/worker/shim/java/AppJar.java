import io.github.redeliver.worker.AppClasses;
import io.github.redeliver.worker.AppLoader;
import io.github.redeliver.worker.LoadException;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

/** The class path of an app: its jar, the jars in lib, and the interfaces of the platform. */
final class AppJar {
    private static final String CORE = "azure-functions-java-core-library";
    private static final String GROUP = "com.microsoft.azure.functions";

    private AppJar() {
    }

    static AppClasses open(String script) throws Exception {
        File jar = new File(script);
        if (!jar.isFile()) {
            throw new LoadException("the file " + script + " is missing: run \"mvn package\"");
        }
        try {
            new ZipFile(jar).close();
        } catch (IOException error) {
            throw new LoadException("the file " + script + " is no jar: " + error.getMessage());
        }
        List<File> path = new ArrayList<>(List.of(Copies.of(jar)));
        File[] libraries = new File(jar.getParentFile(), "lib").listFiles((dir, name) -> name.endsWith(".jar"));
        if (libraries != null) {
            Arrays.sort(libraries);
            path.addAll(Arrays.asList(libraries));
        }
        AppLoader plain = loaderOf(path);
        if (!has(plain, "com.microsoft.azure.functions.ExecutionContext")) {
            path.add(coreLibrary());
            plain = loaderOf(path);
        }
        return new AppClasses(plain);
    }

    private static AppLoader loaderOf(List<File> path) throws IOException {
        List<URL> urls = new ArrayList<>();
        for (File file : path) {
            urls.add(file.toURI().toURL());
        }
        return new AppLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    private static boolean has(ClassLoader loader, String name) {
        try {
            loader.loadClass(name);
            return true;
        } catch (ClassNotFoundException | LinkageError missing) {
            return false;
        }
    }

    /** The interfaces, which the build leaves out of lib: where a build has put them. */
    private static File coreLibrary() throws LoadException {
        Path home = Path.of(System.getProperty("user.home"));
        Path maven = home.resolve(".m2").resolve("repository");
        try {
            Matcher named = Pattern.compile("<localRepository>\\s*([^<]+?)\\s*</localRepository>").matcher(Files.readString(home.resolve(".m2").resolve("settings.xml")));
            if (named.find()) {
                maven = Path.of(named.group(1).replace("${user.home}", home.toString()));
            }
        } catch (IOException | RuntimeException unsaid) {
            // the usual place
        }
        maven = Path.of(System.getProperty("maven.repo.local", maven.toString()));
        String gradleHome = System.getenv("GRADLE_USER_HOME");
        Path gradle = (gradleHome == null ? home.resolve(".gradle") : Path.of(gradleHome)).resolve("caches").resolve("modules-2").resolve("files-2.1").resolve(GROUP);
        for (Path place : List.of(maven.resolve(GROUP.replace('.', File.separatorChar)).resolve(CORE), gradle.resolve(CORE))) {
            try (Stream<Path> files = Files.walk(place, 3)) {
                Optional<Path> newest = files
                    .filter(file -> file.getFileName().toString().matches(CORE + "-[0-9][0-9.]*(-[A-Za-z0-9.]+)?\\.jar"))
                    .filter(file -> !file.toString().endsWith("-sources.jar") && !file.toString().endsWith("-javadoc.jar"))
                    .max(Comparator.comparing(AppJar::version, Arrays::compare));
                if (newest.isPresent()) {
                    return newest.get().toFile();
                }
            } catch (IOException missing) {
                // the next place
            }
        }
        throw new LoadException("the jar " + GROUP + ":" + CORE + " is neither in the folder lib beside the app's jar nor in " + maven
            + ": run \"mvn package\", or copy the jar into lib");
    }

    private static int[] version(Path file) {
        return Stream.of(file.getFileName().toString().split("[^0-9]+")).filter(s -> !s.isEmpty() && s.length() < 9).mapToInt(Integer::parseInt).toArray();
    }
}

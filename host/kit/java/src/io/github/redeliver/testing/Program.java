package io.github.redeliver.testing;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** Where the program is: REDELIVER_BINARY or the system property redeliver.binary, the jar of the program in the class path, or the PATH. */
final class Program {
    private static final boolean WINDOWS = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("windows");
    private static final String FILE = WINDOWS ? "redeliver.exe" : "redeliver";

    private Program() {
    }

    static String find() {
        String given = System.getProperty("redeliver.binary", System.getenv("REDELIVER_BINARY"));
        if (given != null && !given.isEmpty()) {
            if (!Files.isRegularFile(Path.of(given))) {
                throw new KitException("no_program", "REDELIVER_BINARY is \"" + given + "\", and there is no such file", "");
            }
            return given;
        }
        URL packed = Program.class.getResource("/META-INF/redeliver/" + FILE);
        if (packed != null) {
            try {
                return unpacked(packed).toString();
            } catch (IOException error) {
                throw new KitException("no_program", "the program in " + packed + " cannot be written to the cache: " + error.getMessage(), "set REDELIVER_BINARY to the program");
            }
        }
        for (String folder : String.valueOf(System.getenv("PATH")).split(File.pathSeparator)) {
            if (!folder.isEmpty() && Files.isRegularFile(Path.of(folder, FILE))) {
                return Path.of(folder, FILE).toString();
            }
        }
        throw new KitException("no_program", "the program redeliver is not on this machine", "add the dependency io.github.redeliver:redeliver-binary with the classifier of this system, or set REDELIVER_BINARY");
    }

    /** The program in the user's cache, in a folder of its own for these very bytes. */
    private static Path unpacked(URL packed) throws IOException {
        URLConnection connection = packed.openConnection();
        connection.setUseCaches(false);
        try (InputStream in = connection.getInputStream()) {
            long sum = connection.getLastModified();
            long size = connection.getContentLengthLong();
            if (connection instanceof JarURLConnection) {
                sum = ((JarURLConnection) connection).getJarEntry().getCrc();
                size = ((JarURLConnection) connection).getJarEntry().getSize();
            }
            Path folder = cache().resolve("redeliver").resolve("program").resolve(Long.toHexString(sum) + "-" + Long.toHexString(size));
            Path file = folder.resolve(FILE);
            if (Files.isRegularFile(file) && Files.size(file) == size) {
                return file;
            }
            Files.createDirectories(folder);
            Path part = Files.createTempFile(folder, ".part", "");
            try {
                Files.copy(in, part, StandardCopyOption.REPLACE_EXISTING);
                part.toFile().setExecutable(true);
                Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(part);
            }
            return file;
        }
    }

    private static Path cache() {
        String given = System.getenv(WINDOWS ? "LOCALAPPDATA" : "XDG_CACHE_HOME");
        if (given != null && !given.isEmpty()) {
            return Path.of(given);
        }
        boolean mac = System.getProperty("os.name").startsWith("Mac");
        return Path.of(System.getProperty("user.home")).resolve(mac ? "Library/Caches" : ".cache");
    }
}

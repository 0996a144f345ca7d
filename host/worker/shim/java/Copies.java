import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** Copies of the app's jars: a build writes over the one that runs. */
final class Copies {
    private static final List<File> MADE = new ArrayList<>();

    static synchronized File of(File jar) throws IOException {
        String worker = System.getenv("FUNCTIONS_WORKER_DIRECTORY");
        File folder = worker == null ? new File(System.getProperty("java.io.tmpdir"), "redeliver-java") : new File(worker, "running");
        Files.createDirectories(folder.toPath());
        File[] left = folder.listFiles((dir, name) -> name.matches("[0-9]{1,18}-[0-9]+\\.jar"));
        for (File one : left == null ? new File[0] : left) {
            if (ProcessHandle.of(Long.parseLong(one.getName().split("-")[0])).isEmpty()) {
                one.delete(); // of a process that was killed
            }
        }
        File copy = new File(folder, ProcessHandle.current().pid() + "-" + MADE.size() + ".jar");
        MADE.add(copy);
        Files.copy(jar.toPath(), copy.toPath(), StandardCopyOption.REPLACE_EXISTING);
        return copy;
    }

    static synchronized void delete() {
        MADE.forEach(File::delete);
    }
}

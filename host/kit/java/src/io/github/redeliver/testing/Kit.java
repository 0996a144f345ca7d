package io.github.redeliver.testing;

import io.github.redeliver.worker.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/** The process "redeliver kit": one for each process of tests, ended with it, or that of REDELIVER_KIT. */
final class Kit {
    private static final int PROTOCOL = 1;
    private static final int MOST = 20; // lines of what it has said

    private static Kit current; // guarded by the class

    final String address;
    final String token;
    private final Process process; // null: it is shared
    private final Deque<String> said = new ArrayDeque<>();
    private Thread listener;

    private Kit() {
        String shared = System.getenv("REDELIVER_KIT");
        process = shared == null || shared.isEmpty() ? started() : null;
        String line = process == null ? shared : first();
        Told told = new Told(parsed(line));
        if (told.whole("kit") != PROTOCOL) {
            String text = "the kit speaks protocol " + PROTOCOL + ", and the program another one: " + (line.isBlank() ? "it has ended" : line.trim()) + lastWords();
            close();
            throw new KitException("wrong_version", text, "update both: io.github.redeliver:redeliver-testing and io.github.redeliver:redeliver-binary");
        }
        address = told.text("address");
        token = told.text("token");
    }

    /** The kit of this process, started when it is first asked for, or when it has ended. */
    static synchronized Kit get() {
        if (current == null || !current.lives()) {
            current = new Kit();
            Runtime.getRuntime().addShutdownHook(new Thread(current::close));
        }
        return current;
    }

    private static Object parsed(String line) {
        try {
            return Json.parse(line);
        } catch (IllegalArgumentException other) {
            return null; // it is another program
        }
    }

    private static Process started() {
        ProcessBuilder builder = new ProcessBuilder(Program.find(), "kit", "--parent", Long.toString(ProcessHandle.current().pid()));
        builder.environment().remove("REDELIVER_KIT");
        try {
            return builder.start();
        } catch (IOException error) {
            throw new KitException("no_program", "the program cannot be started: " + error.getMessage(), "");
        }
    }

    /** The first line, and the only one. */
    private String first() {
        listener = new Thread(this::listen, "redeliver kit");
        listener.setDaemon(true);
        listener.start();
        try {
            String line = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
            return line == null ? "" : line;
        } catch (IOException ended) {
            return "";
        }
    }

    private void listen() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                synchronized (said) {
                    said.add(line);
                    if (said.size() > MOST) {
                        said.remove();
                    }
                }
            }
        } catch (IOException ended) {
            // it says no more
        }
    }

    /** How the process has ended, and what it has said, for errors. */
    String lastWords() {
        StringBuilder out = new StringBuilder();
        try {
            if (process != null && process.waitFor(1, TimeUnit.SECONDS)) {
                out.append("\nredeliver kit ended with ").append(process.exitValue());
                listener.join(1000);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        synchronized (said) {
            said.forEach(line -> out.append("\n  ").append(line));
        }
        return out.toString();
    }

    boolean lives() {
        return process == null || process.isAlive();
    }

    /** The number of the process, 0 for a shared one. */
    long pid() {
        return process == null ? 0 : process.pid();
    }

    /** Ends the process. It ends by itself when this one does, however that ends. */
    private void close() {
        if (process == null) {
            return;
        }
        try {
            process.getOutputStream().close();
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException | InterruptedException ended) {
            process.destroyForcibly();
        }
    }
}

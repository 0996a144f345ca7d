// Runs the functions of a Java app for the host: see the package comment of
// host/worker/shim. The JDK of the user compiles it, for Java 11 or later. It
// needs no library: the interfaces that functions use are found in the app's class path,
// and proxies implement them (spec workers-dotnet-java 2). The package beside it is what the
// test kit has of it, too.

import io.github.redeliver.worker.AppClasses;
import io.github.redeliver.worker.Json;
import io.github.redeliver.worker.Link;
import io.github.redeliver.worker.UserFunction;
import io.github.redeliver.worker.Worker;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The worker in a process of its own. */
public final class RedeliverWorker extends Worker {
    private final Map<String, UserFunction> functions = new ConcurrentHashMap<>(); // by ID
    private final Map<String, AppClasses> classes = new HashMap<>(); // by script file; in turn only
    private final ExecutorService calls = Executors.newCachedThreadPool(daemons("function"));

    private RedeliverWorker(Link link) {
        super(link);
    }

    public static void main(String[] arguments) {
        System.setOut(new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 8192), true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.err), 8192), true, StandardCharsets.UTF_8));
        int code = 1;
        try {
            Map<String, String> given = options(arguments);
            Link link = new Link(given.get("host"), Integer.parseInt(given.get("port")), Long.parseLong(given.getOrDefault("grpcMaxMessageLength", "0")), RedeliverWorker::end);
            link.send("", "startStream", Json.map("workerId", given.get("workerId")));
            Runtime.getRuntime().addShutdownHook(new Thread(Copies::delete));
            new RedeliverWorker(link).serve();
            code = 0;
        } catch (Throwable error) {
            System.err.println("error: " + error);
        } finally {
            flush();
            Copies.delete();
            // Without a host there is nothing to live for, whatever the app does.
            Runtime.getRuntime().halt(code);
        }
    }

    /** Where the host is, and who this is. */
    private static Map<String, String> options(String[] arguments) {
        Map<String, String> given = new HashMap<>(Map.of("workerId", ""));
        for (int i = 0; i + 1 < arguments.length; i++) {
            if (arguments[i].startsWith("--")) {
                given.put(arguments[i].substring(2), arguments[++i]);
            }
        }
        if (!given.containsKey("host") || !given.containsKey("port")) {
            throw new IllegalArgumentException("the host starts this program, with --host and --port");
        }
        return given;
    }

    /** Without a host there is nothing to live for. */
    private static void end() {
        Copies.delete();
        Runtime.getRuntime().halt(0);
    }

    /** Each function has a function.json. */
    @Override
    protected List<Object> declared() {
        return null;
    }

    @Override
    protected void load(String id, Map<String, Object> metadata) throws Exception {
        if (!functions.containsKey(id)) {
            String script = Json.text(metadata.get("scriptFile"));
            AppClasses app = classes.get(script);
            if (app == null) {
                app = AppJar.open(script);
                classes.put(script, app);
            }
            functions.put(id, UserFunction.of(app, metadata));
        }
    }

    /** Ends the process, with the app's shutdown hooks, in the time that the host gives. */
    @Override
    protected void terminate(long limit) {
        daemons("limit").newThread(() -> {
            try {
                Thread.sleep(limit);
            } catch (InterruptedException early) {
                // all the same
            }
            Runtime.getRuntime().halt(0);
        }).start();
        daemons("exit").newThread(() -> System.exit(0)).start();
    }

    @Override
    protected void invoke(String request, Map<String, Object> body) {
        UserFunction function = functions.get(Json.text(body.get("functionId")));
        calls.execute(() -> answer(request, body, function));
    }
}

package io.github.redeliver.worker;

import static io.github.redeliver.worker.Json.map;

import java.io.IOException;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a worker says to its host: it takes what the host says, and answers it. What its functions are, and where they run, is for others to say. */
public abstract class Worker {
    private static final String VERSION = "1.0";

    private static final String[] CAPABILITIES = {
        "RpcHttpBodyOnly", "RpcHttpTriggerMetadataRemoved", "TypedDataCollection", "WorkerStatus", "HandlesWorkerTerminateMessage",
    };

    /** The connection with the host. */
    protected final Link link;
    private final ExecutorService turn = Executors.newSingleThreadExecutor(daemons("host"));

    /** A worker of a host, to which it is connected. */
    protected Worker(Link link) {
        this.link = link;
    }

    /** The functions that the app declares in code, null for one that has files for them. */
    protected abstract List<Object> declared();

    /** Makes a function ready. */
    protected abstract void load(String id, Map<String, Object> metadata) throws Exception;

    /** Calls a function, and answers. */
    protected abstract void invoke(String request, Map<String, Object> body);

    /** Ends, within a time in milliseconds. */
    protected abstract void terminate(long limit);

    /** Threads that do not keep a process alive. */
    protected static ThreadFactory daemons(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Does what the host says until it ends. */
    public void serve() throws IOException {
        try {
            receive();
        } finally {
            turn.shutdown();
        }
    }

    private void receive() throws IOException {
        for (Line line = link.receive(); line != null; line = link.receive()) {
            try {
                take(Json.object(Json.parse(line.text())));
            } catch (Throwable error) { // OutOfMemoryError too: of this line, as a rule
                refuse(line.head(), error);
            }
        }
    }

    /** Answers a call that came in a line which cannot be taken, since it is too long say. */
    private void refuse(String head, Throwable error) {
        String id = part(head, "invocationId");
        if (id == null) {
            say("Warning", "a message of the host cannot be taken: " + error);
            return;
        }
        String request = part(head, "requestId");
        link.send(request == null ? "" : request, "invocationResponse", map("invocationId", id, "result", Failure.status(error)));
    }

    private static String part(String head, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\\s*\"([^\"]*)\"").matcher(head);
        return found.find() ? found.group(1) : null;
    }

    private void take(Map<String, Object> message) {
        String request = Json.text(message.get("requestId"));
        for (Map.Entry<String, Object> member : message.entrySet()) {
            if (!(member.getValue() instanceof Map)) {
                continue;
            }
            Map<String, Object> body = Json.object(member.getValue());
            switch (member.getKey()) {
                case "workerStatusRequest":
                    link.send(request, "workerStatusResponse", map());
                    break;
                case "invocationRequest":
                    invoke(request, body);
                    break;
                case "workerInitRequest":
                    turn.execute(() -> init(request));
                    break;
                case "functionsMetadataRequest":
                    turn.execute(() -> index(request));
                    break;
                case "functionLoadRequest":
                    turn.execute(() -> make(request, body));
                    break;
                case "workerTerminate":
                    terminate(grace(body));
                    break;
                default: // of a later version of the protocol
            }
        }
    }

    /** Says something of the worker itself. */
    protected void say(String level, String text) {
        link.send("", "rpcLog", map("category", "redeliver_worker", "level", level, "message", text, "logCategory", "System"));
    }

    private void init(String request) {
        Map<String, Object> can = new LinkedHashMap<>();
        for (String name : CAPABILITIES) {
            can.put(name, "true");
        }
        link.send(request, "workerInitResponse", map(
            "capabilities", can, "result", Failure.SUCCESS,
            "workerMetadata", map(
                "runtimeName", "java", "runtimeVersion", System.getProperty("java.version"), "workerVersion", VERSION,
                "workerBitness", System.getProperty("sun.arch.data.model", "64"),
                "customProperties", map("vendor", System.getProperty("java.vendor"), "home", System.getProperty("java.home")))));
    }

    private void index(String request) {
        List<Object> declared = declared();
        link.send(request, "functionMetadataResponse", map("useDefaultMetadataIndexing", declared == null, "functionMetadataResults", declared, "result", Failure.SUCCESS));
    }

    private void make(String request, Map<String, Object> body) {
        String id = Json.text(body.get("functionId"));
        Map<String, Object> result = Failure.SUCCESS;
        try {
            load(id, Json.object(body.get("metadata")));
        } catch (Throwable error) {
            result = Failure.status(error);
        }
        link.send(request, "functionLoadResponse", map("functionId", id, "result", result));
    }

    private static long grace(Map<String, Object> body) {
        Matcher grace = Pattern.compile("([0-9.]+)s").matcher(Json.text(body.get("gracePeriod")));
        return grace.matches() ? (long) (Double.parseDouble(grace.group(1)) * 1000) : 5000;
    }

    /** Answers a call of a function; null: there is no such function. */
    protected void answer(String request, Map<String, Object> body, Function function) {
        String id = Json.text(body.get("invocationId"));
        Map<String, Object> answer;
        try {
            if (function == null) {
                throw new IllegalArgumentException("there is no function " + body.get("functionId"));
            }
            answer = function.call(link, body);
        } catch (Throwable error) {
            answer = map("result", Failure.status(error));
        }
        flush();
        answer.put("invocationId", id);
        try {
            link.send(request, "invocationResponse", answer);
        } catch (Throwable error) {
            link.send(request, "invocationResponse", map("invocationId", id, "result", Failure.untold(answer, error)));
        }
    }

    /** Brings what was printed to the host. The streams may be the app's own, or null. */
    public static void flush() {
        for (PrintStream stream : new PrintStream[] {System.out, System.err}) {
            try {
                stream.flush();
            } catch (Throwable odd) {
                // nothing is left to bring
            }
        }
    }
}

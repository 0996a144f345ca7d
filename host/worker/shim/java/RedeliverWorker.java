// Runs the functions of a Java app for the host: see the package comment of
// host/worker/shim. The JDK of the user compiles this one file, for Java 11 or later. It
// needs no library: the interfaces that functions use are found in the app's class path,
// and proxies implement them (spec workers-dotnet-java 2).

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

/** The worker: it takes what the host says, and answers it. */
public final class RedeliverWorker {
    private static final String VERSION = "1.0";
    private static final String API = "com.microsoft.azure.functions.";

    private static final String[] CAPABILITIES = {
        "RpcHttpBodyOnly", "RpcHttpTriggerMetadataRemoved", "TypedDataCollection", "WorkerStatus", "HandlesWorkerTerminateMessage",
    };

    private final Link link;
    private final Map<String, UserFunction> functions = new ConcurrentHashMap<>(); // by ID
    private final Map<String, AppClasses> classes = new HashMap<>(); // by script file; in turn only
    private final ExecutorService calls = Executors.newCachedThreadPool(daemons("function"));
    private final ExecutorService turn = Executors.newSingleThreadExecutor(daemons("host"));

    private RedeliverWorker(Link link) {
        this.link = link;
    }

    public static void main(String[] arguments) {
        System.setOut(new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 8192), true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.err), 8192), true, StandardCharsets.UTF_8));
        int code = 1;
        try {
            Map<String, String> given = options(arguments);
            Link link = new Link(given.get("host"), Integer.parseInt(given.get("port")), Long.parseLong(given.getOrDefault("grpcMaxMessageLength", "0")));
            link.send("", "startStream", map("workerId", given.get("workerId")));
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

    private static ThreadFactory daemons(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    private void serve() throws IOException {
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
                case "functionsMetadataRequest": // each has a function.json
                    turn.execute(() -> link.send(request, "functionMetadataResponse", map("useDefaultMetadataIndexing", true, "result", SUCCESS)));
                    break;
                case "functionLoadRequest":
                    turn.execute(() -> load(request, body));
                    break;
                case "workerTerminate":
                    terminate(body);
                    break;
                default: // of a later version of the protocol
            }
        }
    }

    private void say(String level, String text) {
        link.send("", "rpcLog", map("category", "redeliver_worker", "level", level, "message", text, "logCategory", "System"));
    }

    private static final Map<String, Object> SUCCESS = map("status", "Success");

    private void init(String request) {
        Map<String, Object> can = new LinkedHashMap<>();
        for (String name : CAPABILITIES) {
            can.put(name, "true");
        }
        link.send(request, "workerInitResponse", map(
            "capabilities", can, "result", SUCCESS,
            "workerMetadata", map(
                "runtimeName", "java", "runtimeVersion", System.getProperty("java.version"), "workerVersion", VERSION,
                "workerBitness", System.getProperty("sun.arch.data.model", "64"),
                "customProperties", map("vendor", System.getProperty("java.vendor"), "home", System.getProperty("java.home")))));
    }

    private void load(String request, Map<String, Object> body) {
        String id = Json.text(body.get("functionId"));
        Map<String, Object> result = SUCCESS;
        try {
            if (!functions.containsKey(id)) {
                Map<String, Object> metadata = Json.object(body.get("metadata"));
                String script = Json.text(metadata.get("scriptFile"));
                AppClasses app = classes.get(script);
                if (app == null) {
                    app = new AppClasses(script);
                    classes.put(script, app);
                }
                functions.put(id, new UserFunction(app, metadata));
            }
        } catch (Throwable error) {
            result = Failure.status(error);
        }
        link.send(request, "functionLoadResponse", map("functionId", id, "result", result));
    }

    /** Ends the process, with the app's shutdown hooks, in the time that the host gives. */
    private void terminate(Map<String, Object> body) {
        Matcher grace = Pattern.compile("([0-9.]+)s").matcher(Json.text(body.get("gracePeriod")));
        long limit = grace.matches() ? (long) (Double.parseDouble(grace.group(1)) * 1000) : 5000;
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

    private void invoke(String request, Map<String, Object> body) {
        UserFunction function = functions.get(Json.text(body.get("functionId")));
        calls.execute(() -> {
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
        });
    }

    /** Brings what was printed to the host. The streams may be the app's own, or null. */
    private static void flush() {
        for (PrintStream stream : new PrintStream[] {System.out, System.err}) {
            try {
                stream.flush();
            } catch (Throwable odd) {
                // nothing is left to bring
            }
        }
    }

    /** A map of the names and values that are not null. */
    static Map<String, Object> map(Object... pairs) {
        Map<String, Object> out = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            if (pairs[i + 1] != null) {
                out.put((String) pairs[i], pairs[i + 1]);
            }
        }
        return out;
    }

    /** The connection to the host: a message a line. */
    static final class Link {
        private final InputStream in;
        private final OutputStream out;
        private final long most; // bytes of a message, 0: any number
        private static final int USUAL = 1 << 16;
        private byte[] held = new byte[USUAL]; // has come, and is not yet given
        private int count;

        Link(String host, int port, long most) throws IOException {
            this.most = most;
            Socket socket = new Socket(InetAddress.getByName(host), port);
            socket.setTcpNoDelay(true);
            in = socket.getInputStream();
            out = socket.getOutputStream();
        }

        /** The next line, null at the end. Of one that memory does not hold the beginning is kept. */
        Line receive() throws IOException {
            Throwable lost = null;
            for (int from = 0;;) {
                for (int i = from; i < count; i++) {
                    if (held[i] == '\n') {
                        Line line = new Line(held, i, lost);
                        count -= i + 1;
                        System.arraycopy(held, i + 1, held, 0, count);
                        if (count <= USUAL && held.length > USUAL) {
                            held = Arrays.copyOf(held, USUAL); // a long line does not cost its size for ever
                        }
                        return line;
                    }
                }
                from = count;
                if (count == held.length && lost == null) {
                    try {
                        held = Arrays.copyOf(held, larger(count));
                    } catch (OutOfMemoryError full) {
                        lost = full;
                    }
                }
                if (count == held.length) {
                    from = count = Math.min(count, Line.HEAD);
                }
                int more = in.read(held, count, held.length - count);
                if (more < 0) {
                    return null;
                }
                count += more;
            }
        }

        private static int larger(int size) {
            if (size > 1 << 30) {
                throw new OutOfMemoryError("a message of more than " + size + " bytes");
            }
            return size < 1 << 30 ? 2 * size : Integer.MAX_VALUE - 8;
        }

        /** Sends a message. An error says why it cannot travel, and nothing is sent. */
        void send(String request, String kind, Map<String, Object> body) {
            StringBuilder text = new StringBuilder();
            Json.write(text, map("requestId", request, kind, body), false);
            byte[] line = text.append('\n').toString().getBytes(StandardCharsets.UTF_8);
            if (most > 0 && line.length > most) {
                throw new IllegalArgumentException("the message has " + line.length + " bytes, and the host takes " + most);
            }
            synchronized (out) {
                try {
                    out.write(line);
                    out.flush();
                } catch (IOException gone) {
                    Copies.delete();
                    Runtime.getRuntime().halt(0);
                }
            }
        }
    }

    /** A line of the host. */
    static final class Line {
        static final int HEAD = 1 << 15; // how much is looked at of a line that cannot be taken
        private final String head;
        private String text;
        private Throwable lost;

        Line(byte[] bytes, int size, Throwable lost) {
            this.head = new String(bytes, 0, Math.min(size, HEAD), StandardCharsets.UTF_8);
            this.lost = lost;
            try {
                this.text = lost != null ? null : size <= HEAD ? head : new String(bytes, 0, size, StandardCharsets.UTF_8);
            } catch (OutOfMemoryError full) {
                this.lost = full;
            }
        }

        String head() {
            return head;
        }

        String text() {
            if (lost != null) {
                throw new IllegalArgumentException("a message of the host is larger than this process can hold: " + lost.getMessage());
            }
            return text;
        }
    }

    /** What went wrong, as the host is told of it. */
    static final class Failure {
        static Map<String, Object> status(Throwable thrown) {
            Throwable error = thrown;
            while (error instanceof InvocationTargetException && error.getCause() != null) {
                error = error.getCause();
            }
            return map("status", "Failure", "exception", exception(error));
        }

        private static final int MOST_TEXT = 1 << 15;

        /** The status of an answer that cannot travel: of a failure the beginning of its texts, else why. */
        static Map<String, Object> untold(Map<String, Object> answer, Throwable error) {
            Map<String, Object> told = Json.object(Json.object(answer.get("result")).get("exception"));
            if (told.isEmpty()) {
                return status(error);
            }
            Map<String, Object> brief = new LinkedHashMap<>(told);
            brief.replaceAll((name, value) -> begin(value));
            return map("status", "Failure", "exception", brief);
        }

        /** The beginning of a text; another value as it is. */
        static Object begin(Object value) {
            return value instanceof String && ((String) value).length() > MOST_TEXT ? ((String) value).substring(0, MOST_TEXT) : value;
        }

        static Map<String, Object> exception(Throwable error) {
            if (error instanceof LoadException) {
                return map("message", error.getMessage());
            }
            String type = error.getClass().getName();
            String brief = type.substring(type.lastIndexOf('.') + 1);
            String message;
            try {
                message = error.getMessage() == null ? brief : brief + ": " + error.getMessage();
            } catch (Throwable broken) {
                message = brief + ": (its message cannot be read: " + broken.getClass().getName() + ")";
            }
            return map("type", type, "message", message, "stackTrace", stack(error), "isUserException", true);
        }

        /** Where it went wrong: the calls of the app, without those of this worker. */
        static String stack(Throwable error) {
            StringBuilder out = new StringBuilder();
            Map<Throwable, Boolean> seen = new IdentityHashMap<>();
            try {
                for (Throwable part = error; part != null && seen.put(part, true) == null; part = part.getCause()) {
                    if (part != error) {
                        out.append("Caused by: ").append(part).append('\n');
                    }
                    for (StackTraceElement frame : frames(part)) {
                        out.append("\tat ").append(frame).append('\n');
                    }
                }
            } catch (Throwable broken) {
                out.append("(the rest cannot be read: ").append(broken.getClass().getName()).append(")\n");
            }
            return out.toString();
        }

        private static List<StackTraceElement> frames(Throwable error) {
            List<StackTraceElement> all = new ArrayList<>(Arrays.asList(error.getStackTrace()));
            while (!all.isEmpty() && beneath(all.get(all.size() - 1).getClassName())) {
                all.remove(all.size() - 1);
            }
            all.removeIf(frame -> ours(frame.getClassName()));
            return all;
        }

        private static boolean ours(String name) {
            return name.equals("RedeliverWorker") || name.startsWith("RedeliverWorker$");
        }

        /** What a call of a function stands on. */
        private static boolean beneath(String name) {
            return ours(name) || name.equals("java.lang.Thread") || name.startsWith("java.util.concurrent.")
                || name.startsWith("java.lang.reflect.") || name.startsWith("jdk.internal.reflect.") || name.startsWith("java.lang.invoke.");
        }
    }

    /** An app cannot be run as it is. The message is all that there is to say. */
    static final class LoadException extends Exception {
        private static final long serialVersionUID = 1;

        LoadException(String message) {
            super(message, null, false, false);
        }
    }

    /** The classes of an app: its jar, the jars in lib, and the interfaces of the platform. */
    static final class AppClasses {
        private static final String CORE = "azure-functions-java-core-library";
        private static final String GROUP = "com.microsoft.azure.functions";

        final AppLoader loader;
        final Mapper mapper;
        private final Map<String, Class<?>> known = new ConcurrentHashMap<>();
        private final Object injector; // null without one

        AppClasses(String script) throws Exception {
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
            if (!has(plain, API + "ExecutionContext")) {
                path.add(coreLibrary());
                plain = loaderOf(path);
            }
            loader = plain;
            mapper = Mapper.of(loader);
            injector = injector();
            noMiddleware();
        }

        private static AppLoader loaderOf(List<File> path) throws IOException {
            List<URL> urls = new ArrayList<>();
            for (File file : path) {
                urls.add(file.toURI().toURL());
            }
            return new AppLoader(urls.toArray(new URL[0]));
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
                        .max(Comparator.comparing(AppClasses::version, Arrays::compare));
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

        Class<?> api(String name) {
            return known.computeIfAbsent(name, n -> {
                try {
                    return Class.forName(API + n, true, loader);
                } catch (ClassNotFoundException missing) {
                    throw new IllegalStateException("the class path of the app has no class " + API + n);
                }
            });
        }

        boolean isApi(Class<?> type, String name) {
            return type.getName().equals(API + name);
        }

        private Object injector() throws Exception {
            Iterator<?> found = ServiceLoader.load(loader.loadClass(ClassFile.INJECTOR), loader).iterator();
            return found.hasNext() ? found.next() : null;
        }

        /** Code around each call is for the official worker. That of Durable Functions has nothing to do here. */
        private void noMiddleware() throws Exception {
            for (URL file : Collections.list(loader.getResources("META-INF/services/" + API + "internal.spi.middleware.Middleware"))) {
                try (InputStream in = file.openStream()) {
                    for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                        String name = line.replaceAll("#.*", "").trim();
                        if (!name.isEmpty() && !name.startsWith("com.microsoft.durabletask.")) {
                            throw new LoadException("the app has the middleware " + name + ", which only the official worker runs: start with --worker official");
                        }
                    }
                }
            }
        }

        /** An instance for one call. */
        Object instance(Class<?> of, Constructor<?> constructor) throws Exception {
            if (injector == null) {
                return constructor.newInstance();
            }
            return api("spi.inject.FunctionInstanceInjector").getMethod("getInstance", Class.class).invoke(injector, of);
        }

        boolean injects() {
            return injector != null;
        }

        /** An object of an interface, whose methods do what is given for their names. */
        Class<?> outputType() throws ReflectiveOperationException {
            try {
                return loader.outputType();
            } catch (IOException none) { // it is written to memory
                throw new ReflectiveOperationException(none);
            }
        }

        Object proxy(String name, Map<String, Function<Object[], Object>> methods) {
            return proxy(name, new Answers(methods));
        }

        Object proxy(String name, InvocationHandler answers) {
            return Proxy.newProxyInstance(loader, new Class<?>[] {api(name)}, answers);
        }
    }

    /** The loader of an app's classes, and of the one that is made for it. */
    static final class AppLoader extends URLClassLoader {
        private Class<?> output; // made once, guarded by this

        AppLoader(URL[] path) {
            super(path, ClassLoader.getPlatformClassLoader());
        }

        /** A class with one field that is an OutputBinding: a proxy would have no JSON form. */
        synchronized Class<?> outputType() throws IOException {
            if (output == null) {
                output = define(ClassFile.OUTPUT, ClassFile.output());
            }
            return output;
        }

        /** The interface of injectors, which the platform's worker brings along, is here for apps that lack it. */
        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            try {
                return super.findClass(name);
            } catch (ClassNotFoundException none) {
                if (!name.equals(ClassFile.INJECTOR)) {
                    throw none;
                }
                try {
                    return define(name, ClassFile.injector());
                } catch (IOException odd) { // it is written to memory
                    throw none;
                }
            }
        }

        private Class<?> define(String name, byte[] file) {
            return defineClass(name, file, 0, file.length);
        }
    }

    /** Class files that are made here. */
    static final class ClassFile {
        static final String OUTPUT = "RedeliverOutputBinding";
        static final String INJECTOR = API + "spi.inject.FunctionInstanceInjector";

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final DataOutputStream out = new DataOutputStream(bytes);

        private ClassFile(int constants) throws IOException {
            out.writeInt(0xCAFEBABE);
            out.writeInt(52); // Java 8
            shorts(constants + 1);
        }

        /** In source: interface FunctionInstanceInjector { Object getInstance(Class of); } */
        static byte[] injector() throws IOException {
            ClassFile file = new ClassFile(6);
            file.text(INJECTOR.replace('.', '/')); // 1
            file.pair(7, 1);
            file.text("java/lang/Object");
            file.pair(7, 3); // 4
            file.text("getInstance");
            file.text("(Ljava/lang/Class;)Ljava/lang/Object;");
            file.shorts(0x601, 2, 4, 0, 0, 1, 0x401, 5, 6, 0, 0); // a public interface with one public method
            return file.bytes.toByteArray();
        }

        /** In source: private Object value; and its getter and setter. */
        static byte[] output() throws IOException {
            ClassFile file = new ClassFile(19);
            file.outputConstants();
            file.shorts(0x21, 2, 4, 1, 6, 1, 2, 7, 8, 0); // public, this, super, one interface; one field: private, name, type
            file.shorts(3);
            file.method(9, 10, 1, 1, 0x2A, 0xB7, 0, 14, 0xB1); // super()
            file.method(11, 12, 1, 1, 0x2A, 0xB4, 0, 16, 0xB0); // return value
            file.method(17, 18, 2, 2, 0x2A, 0x2B, 0xB5, 0, 16, 0xB1); // value = given
            file.shorts(0);
            return file.bytes.toByteArray();
        }

        /** The constants, by their numbers from 1. */
        private void outputConstants() throws IOException {
            text(OUTPUT); // 1
            pair(7, 1);
            text("java/lang/Object");
            pair(7, 3); // 4
            text((API + "OutputBinding").replace('.', '/'));
            pair(7, 5);
            text("value"); // 7
            text("Ljava/lang/Object;");
            text("<init>"); // 9
            text("()V");
            text("getValue"); // 11
            text("()Ljava/lang/Object;");
            pair(12, 9, 10); // 13: <init>()
            pair(10, 4, 13);
            pair(12, 7, 8); // 15: value
            pair(9, 2, 15);
            text("setValue"); // 17
            text("(Ljava/lang/Object;)V");
            text("Code"); // 19
        }

        private void method(int name, int type, int stack, int locals, int... code) throws IOException {
            shorts(1, name, type, 1, 19);
            out.writeInt(12 + code.length);
            shorts(stack, locals);
            out.writeInt(code.length);
            for (int one : code) {
                out.writeByte(one);
            }
            shorts(0, 0);
        }

        private void text(String text) throws IOException {
            out.writeByte(1);
            out.writeUTF(text);
        }

        private void pair(int tag, int... numbers) throws IOException {
            out.writeByte(tag);
            shorts(numbers);
        }

        private void shorts(int... numbers) throws IOException {
            for (int number : numbers) {
                out.writeShort(number);
            }
        }
    }

    /** Copies of the app's jars: a build writes over the one that runs. */
    static final class Copies {
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

    /** The methods of a proxy, by their names. */
    static class Answers implements InvocationHandler {
        private final Map<String, Function<Object[], Object>> methods;

        Answers(Map<String, Function<Object[], Object>> methods) {
            this.methods = methods;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            Function<Object[], Object> answer = methods.get(method.getName());
            if (answer != null) {
                return answer.apply(arguments);
            }
            switch (method.getName()) {
                case "toString":
                    return proxy.getClass().getInterfaces()[0].getSimpleName() + "@" + Integer.toHexString(System.identityHashCode(proxy));
                case "hashCode":
                    return System.identityHashCode(proxy);
                case "equals":
                    return proxy == arguments[0];
                default:
            }
            if (method.isDefault()) {
                return byDefault(proxy, method, arguments);
            }
            throw new UnsupportedOperationException(method + " is not there in this worker; the official worker may have it");
        }

        private static Object byDefault(Object proxy, Method method, Object[] arguments) throws Throwable {
            Method call;
            try { // since Java 16
                call = InvocationHandler.class.getMethod("invokeDefault", Object.class, Method.class, Object[].class);
            } catch (NoSuchMethodException earlier) {
                Class<?> owner = method.getDeclaringClass();
                return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).unreflectSpecial(method, owner).bindTo(proxy)
                    .invokeWithArguments(arguments == null ? new Object[0] : arguments);
            }
            try {
                return call.invoke(null, proxy, method, arguments);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        }
    }

    /** A function: the method of the app, and where its arguments come from. */
    static final class UserFunction {
        private final AppClasses app;
        private final String name;
        private final Method method;
        private final Constructor<?> constructor; // null: none is needed
        private final List<Slot> slots = new ArrayList<>();
        private final boolean returns;

        UserFunction(AppClasses app, Map<String, Object> metadata) throws Exception {
            this.app = app;
            name = Json.text(metadata.get("name"));
            String entry = Json.text(metadata.get("entryPoint"));
            int dot = entry.lastIndexOf('.');
            if (dot <= 0) {
                throw new LoadException("the entryPoint of function " + name + " is \"" + entry + "\", and has to be the name of a class and a method");
            }
            Class<?> owner;
            try {
                owner = app.loader.loadClass(entry.substring(0, dot));
            } catch (ClassNotFoundException missing) {
                throw new LoadException("the jar has no class " + entry.substring(0, dot) + ", which the entryPoint of function " + name + " names: run \"mvn package\"");
            }
            method = method(owner, entry.substring(dot + 1));
            constructor = Modifier.isStatic(method.getModifiers()) || app.injects() ? null : constructor(owner);
            for (Parameter parameter : method.getParameters()) {
                slots.add(new Slot(app, method, parameter));
            }
            Map<String, Object> bindings = Json.object(metadata.get("bindings"));
            returns = method.getReturnType() != void.class || bindings.containsKey("$return");
        }

        private static Method method(Class<?> owner, String name) throws LoadException {
            List<Method> found = new ArrayList<>();
            try {
                for (Method one : owner.getDeclaredMethods()) {
                    if (one.getName().equals(name) && Modifier.isPublic(one.getModifiers()) && !one.isBridge() && !one.isSynthetic()) {
                        found.add(one);
                    }
                }
            } catch (NoClassDefFoundError missing) {
                throw new LoadException("class " + owner.getName() + " needs " + missing.getMessage().replace('/', '.') + ", which no jar in lib has");
            }
            if (found.size() != 1) {
                throw new LoadException("class " + owner.getName() + " has " + (found.isEmpty() ? "no public method " : "more than one method ") + name
                    + (found.isEmpty() ? "" : ": a function cannot be overloaded"));
            }
            found.get(0).setAccessible(true);
            return found.get(0);
        }

        private static Constructor<?> constructor(Class<?> owner) throws LoadException {
            try {
                Constructor<?> found = owner.getDeclaredConstructor();
                if (!Modifier.isAbstract(owner.getModifiers())) {
                    found.setAccessible(true);
                    return found;
                }
            } catch (NoSuchMethodException none) {
                // below
            }
            throw new LoadException("class " + owner.getName() + " has no constructor without parameters, so that no function of it can be called");
        }

        /** One call, and what comes of it. */
        Map<String, Object> call(Link link, Map<String, Object> request) throws Exception {
            Thread.currentThread().setContextClassLoader(app.loader);
            Call call = new Call(app, link, this, request);
            Object[] arguments = new Object[slots.size()];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = slots.get(i).argument(call);
            }
            Object receiver = Modifier.isStatic(method.getModifiers()) ? null : app.instance(method.getDeclaringClass(), constructor);
            Object result = method.invoke(receiver, arguments);
            List<Object> outputs = new ArrayList<>();
            for (Map.Entry<String, Object> output : call.outputs.entrySet()) {
                Map<String, Object> data = Data.leaving(app, app.outputType().getMethod("getValue").invoke(output.getValue()));
                if (data != null) {
                    outputs.add(map("name", output.getKey(), "data", data));
                }
            }
            return map("result", SUCCESS, "outputData", outputs, "returnValue", returns ? Data.leaving(app, result) : null);
        }
    }

    /** Where an argument comes from (spec workers-dotnet-java 2.4). */
    static final class Slot {
        private enum Source { INPUT, OUTPUT, METADATA, CONTEXT }

        private final Source source;
        private final String name;
        private final Type type;

        Slot(AppClasses app, Method method, Parameter parameter) throws LoadException {
            type = parameter.getParameterizedType();
            String binding = null;
            String metadata = null;
            for (Annotation one : parameter.getAnnotations()) {
                Class<?> kind = one.annotationType();
                if (kind.getName().equals(API + "annotation.BindingName")) {
                    metadata = member(one, "value");
                } else if (kind.getName().startsWith(API + "annotation.")
                    || Arrays.stream(kind.getAnnotations()).anyMatch(a -> a.annotationType().getName().equals(API + "annotation.CustomBinding"))) {
                    binding = member(one, "name");
                }
            }
            if (binding != null && app.isApi(parameter.getType(), "OutputBinding")) {
                source = Source.OUTPUT;
            } else if (binding != null) {
                source = Source.INPUT;
            } else if (metadata != null) {
                source = Source.METADATA;
            } else if (app.isApi(parameter.getType(), "ExecutionContext")) {
                source = Source.CONTEXT;
            } else {
                throw new LoadException("the parameter " + parameter.getType().getSimpleName() + " " + parameter.getName() + " of " + method.getDeclaringClass().getName() + "."
                    + method.getName() + " has no annotation that names a binding, or the jar azure-functions-java-library, which has the annotations, is not in lib");
            }
            name = binding == null ? metadata : binding;
            String wanted = Mapper.raw(type == null || Mapper.element(type) == null ? type : Mapper.element(type)).getName();
            if (source == Source.INPUT && wanted.startsWith("com.azure.")) {
                throw new LoadException("the parameter \"" + name + "\" of " + method.getDeclaringClass().getName() + "." + method.getName() + " has the type " + wanted
                    + " of an SDK, which only the official worker gives: take a text, bytes or a class of the app, or start with --worker official");
            }
        }

        private static String member(Annotation of, String name) {
            try {
                Method method = of.annotationType().getMethod(name);
                method.setAccessible(true);
                return String.valueOf(method.invoke(of));
            } catch (ReflectiveOperationException none) {
                return null;
            }
        }

        Object argument(Call call) throws Exception {
            switch (source) {
                case CONTEXT:
                    return call.context();
                case OUTPUT:
                    return call.output(name);
                case INPUT:
                    if (!call.inputs.containsKey(name)) {
                        throw new IllegalArgumentException("there is no input \"" + name + "\" for this call");
                    }
                    return converted(call, call.inputs.get(name));
                default:
                    if (!call.metadata.containsKey(name)) {
                        throw new IllegalArgumentException("the trigger has no metadata \"" + name + "\" for the parameter with @BindingName(\"" + name + "\")");
                    }
                    return converted(call, call.metadata.get(name));
            }
        }

        private Object converted(Call call, Object data) throws Exception {
            Object value;
            try {
                value = Data.arrived(call.app, Json.object(data), type);
            } catch (InvocationTargetException error) {
                throw new IllegalArgumentException("the value of \"" + name + "\" is no " + type.getTypeName() + ": " + error.getCause(), error.getCause());
            } catch (RuntimeException error) {
                throw new IllegalArgumentException("the value of \"" + name + "\" is no " + type.getTypeName() + ": " + error.getMessage(), error);
            }
            if (value == null && type instanceof Class && ((Class<?>) type).isPrimitive()) {
                throw new IllegalArgumentException("there is no value of \"" + name + "\" for a parameter of the type " + type.getTypeName());
            }
            return value;
        }
    }

    /** One call: its values, and its context. */
    static final class Call {
        final AppClasses app;
        final Map<String, Object> inputs = new LinkedHashMap<>();
        final Map<String, Object> metadata = new HashMap<>();
        private final Map<String, Object> outputs = new LinkedHashMap<>();

        private final Link link;
        private final UserFunction function;
        private final Map<String, Object> request;

        Call(AppClasses app, Link link, UserFunction function, Map<String, Object> request) {
            this.app = app;
            this.link = link;
            this.function = function;
            this.request = request;
            metadata.putAll(Json.object(request.get("triggerMetadata")));
            for (Object one : Json.array(request.get("inputData"))) {
                Map<String, Object> input = Json.object(one);
                String name = Json.text(input.get("name"));
                Object data = input.get("data");
                inputs.put(name, data);
                if (Json.object(data).containsKey("http")) { // it is metadata, too
                    metadata.put(name, data);
                    metadata.put("$request", data);
                }
            }
        }

        Object output(String name) throws ReflectiveOperationException {
            Object output = outputs.get(name);
            if (output == null) {
                output = app.outputType().getConstructor().newInstance();
                outputs.put(name, output);
            }
            return output;
        }

        Object context() {
            String id = Json.text(request.get("invocationId"));
            Logger logger = logger(id);
            Map<String, Object> trace = Json.object(request.get("traceContext"));
            Map<String, Object> retry = Json.object(request.get("retryContext"));
            Map<String, Object> before = Json.object(retry.get("exception"));
            Map<String, String> attributes = Data.texts(trace.get("attributes"));
            return app.proxy("ExecutionContext", Map.of(
                "getLogger", a -> logger, "getInvocationId", a -> id, "getFunctionName", a -> function.name,
                "getTraceContext", a -> app.proxy("TraceContext", Map.of(
                    "getTraceparent", b -> Json.text(trace.get("traceParent")), "getTracestate", b -> Json.text(trace.get("traceState")), "getAttributes", b -> attributes)),
                "getRetryContext", a -> app.proxy("RetryContext", Map.of(
                    "getRetrycount", b -> Json.whole(retry.get("retryCount")), "getMaxretrycount", b -> Json.whole(retry.get("maxRetryCount")),
                    "getException", b -> app.proxy("RpcException", Map.of(
                        "getMessage", c -> Json.text(before.get("message")), "getSource", c -> Json.text(before.get("source")),
                        "getStacktrace", c -> Json.text(before.get("stackTrace"))))))));
        }

        /** What is logged for this call travels with its ID. */
        private Logger logger(String id) {
            Logger logger = Logger.getAnonymousLogger();
            logger.setLevel(Level.ALL);
            logger.setUseParentHandlers(false);
            logger.addHandler(new Handler() {
                @Override
                public void publish(LogRecord record) {
                    Throwable thrown = record.getThrown();
                    // As it is: the official worker leaves {0} in it, too.
                    Map<String, Object> line = map(
                        "invocationId", id, "level", level(record.getLevel()), "message", Json.text(record.getMessage()), "logCategory", "User",
                        "exception", thrown == null ? null : Failure.exception(thrown));
                    try {
                        link.send("", "rpcLog", line);
                    } catch (IllegalArgumentException | OutOfMemoryError error) {
                        line.remove("exception");
                        line.computeIfPresent("message", (name, text) -> Failure.begin(text) + "... (the rest of the line is left out: " + error.getMessage() + ")");
                        link.send("", "rpcLog", line);
                    }
                }

                @Override
                public void flush() {
                    // nothing is held back
                }

                @Override
                public void close() {
                    // the connection stays
                }
            });
            return logger;
        }

        /** The levels of the official worker. */
        private static String level(Level level) {
            int value = level.intValue();
            if (value <= Level.FINE.intValue()) {
                return "Trace";
            }
            if (value < Level.INFO.intValue()) {
                return "Debug";
            }
            if (value < Level.WARNING.intValue()) {
                return "Information";
            }
            return value < Level.SEVERE.intValue() ? "Warning" : "Error";
        }
    }

    /** Values as they travel (spec workers-dotnet-java 2.3, 2.4). */
    static final class Data {
        /** A value as a type of the app. */
        static Object arrived(AppClasses app, Map<String, Object> data, Type type) throws Exception {
            Class<?> raw = Mapper.raw(type);
            String kind = data.isEmpty() ? "" : data.keySet().iterator().next();
            Object value = data.get(kind);
            if (raw == Optional.class) {
                Object inner = arrived(app, data, Mapper.argument(type, 0));
                return Optional.ofNullable(inner);
            }
            switch (kind) {
                case "":
                    return null;
                case "http":
                    Map<String, Object> request = Json.object(value);
                    if (!app.isApi(raw, "HttpRequestMessage")) {
                        throw new IllegalArgumentException("it is an HTTP request, which only an HttpRequestMessage<T> takes: T is the type of its body");
                    }
                    return request(app, request, Mapper.argument(type, 0));
                case "string":
                case "json":
                case "stream":
                    return ofText(app, Json.text(value), type, kind.equals("json"));
                case "int":
                case "double":
                    return ofText(app, Json.number(value), type, true);
                case "bytes":
                    return ofBytes(app, bytes(value), type);
                case "collectionString":
                case "collectionBytes":
                case "collectionDouble":
                case "collectionSint64":
                    return ofList(app, kind, Json.object(value).values(), type);
                default:
                    throw new IllegalArgumentException("a value of the kind \"" + kind + "\" needs the official worker");
            }
        }

        private static byte[] bytes(Object value) {
            return Base64.getDecoder().decode(Json.text(value));
        }

        private static Object ofText(AppClasses app, String text, Type type, boolean json) throws Exception {
            Class<?> raw = Mapper.raw(type);
            if (raw == String.class || raw == CharSequence.class) {
                return text;
            }
            if (raw == Object.class && !json) { // the official worker refuses text that is no JSON
                try {
                    return app.mapper.read(text, type);
                } catch (Exception plain) {
                    return text;
                }
            }
            if (raw == byte[].class) {
                return text.getBytes(StandardCharsets.UTF_8);
            }
            if (json && text.trim().equals("null")) {
                return null;
            }
            Object simple = Mapper.simple(raw, text);
            if (simple != null) {
                return simple;
            }
            try {
                return app.mapper.read(text, type);
            } catch (Exception error) {
                Type element = Mapper.element(type);
                if (element == null || Mapper.raw(element) != String.class) {
                    throw error;
                }
                List<Object> members = written(text);
                if (members == null && json) {
                    throw error;
                }
                return Mapper.collection(type, members == null ? List.of(text) : members);
            }
        }

        /** The members of a JSON array as texts, each as JSON, null where there is none: objects for a list of texts. */
        private static List<Object> written(String text) {
            Object tree;
            try {
                tree = Json.parseLenient(text);
            } catch (IllegalArgumentException none) {
                return null;
            }
            if (!(tree instanceof List)) {
                return null;
            }
            List<Object> members = new ArrayList<>();
            for (Object one : Json.array(tree)) {
                StringBuilder member = new StringBuilder();
                Json.write(member, one, false);
                members.add(member.toString());
            }
            return members;
        }

        private static Object ofBytes(AppClasses app, byte[] bytes, Type type) throws Exception {
            Class<?> raw = Mapper.raw(type);
            if (raw == byte[].class || raw == Object.class) {
                return bytes;
            }
            if (raw == Byte[].class) {
                Byte[] boxed = new Byte[bytes.length];
                Arrays.setAll(boxed, i -> bytes[i]);
                return boxed;
            }
            return ofText(app, new String(bytes, StandardCharsets.UTF_8), type, false);
        }

        private static Object ofList(AppClasses app, String kind, Collection<Object> lists, Type type) throws Exception {
            Class<?> raw = Mapper.raw(type);
            Type element = raw == Object.class ? Object.class : Mapper.element(type);
            List<Object> members = new ArrayList<>();
            for (Object list : lists) {
                for (Object one : Json.array(list)) {
                    if (element == null) {
                        members.add(one);
                    } else if (kind.equals("collectionBytes")) {
                        members.add(ofBytes(app, bytes(one), element));
                    } else {
                        boolean number = !kind.equals("collectionString");
                        members.add(ofText(app, number ? Json.number(one) : Json.text(one), element, number));
                    }
                }
            }
            if (element != null) {
                return raw == Object.class ? members : Mapper.collection(type, members);
            }
            StringBuilder text = new StringBuilder();
            Json.write(text, members, false);
            return ofText(app, text.toString(), type, true);
        }

        private static Object request(AppClasses app, Map<String, Object> request, Type bodyType) throws Exception {
            String url = Json.text(request.get("url"));
            Map<String, String> headers = texts(request.get("headers"));
            Map<String, String> query = texts(request.get("query"));
            Object body = arrived(app, Json.object(request.get("body")), bodyType);
            Object verb = null;
            for (Object one : app.api("HttpMethod").getEnumConstants()) {
                if (one.toString().equalsIgnoreCase(Json.text(request.get("method")))) {
                    verb = one;
                }
            }
            Object method = verb;
            return app.proxy("HttpRequestMessage", Map.of(
                "getUri", a -> URI.create(url), // here, since a query may hold what a URI does not
                "getHttpMethod", a -> method, "getHeaders", a -> headers, "getQueryParameters", a -> query, "getBody", a -> body,
                "createResponseBuilder", a -> new Answer(app).status(a[0]).self()));
        }

        static Map<String, String> texts(Object message) {
            Map<String, String> out = new LinkedHashMap<>();
            Json.object(message).forEach((name, value) -> out.put(name, Json.text(value)));
            return out;
        }

        /** A value of the app as it travels, null for none. */
        static Map<String, Object> leaving(AppClasses app, Object value) throws Exception {
            if (value == null) {
                return null;
            }
            if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
                return map("int", value.toString());
            }
            if (value instanceof Double || value instanceof Float) {
                double number = ((Number) value).doubleValue();
                return map("double", Double.isNaN(number) || Double.isInfinite(number) ? String.valueOf(number) : number);
            }
            if (value instanceof String) {
                return map("string", value);
            }
            if (value instanceof byte[]) {
                return map("bytes", Base64.getEncoder().encodeToString((byte[]) value));
            }
            Class<?> response = app.api("HttpResponseMessage");
            if (response.isInstance(value)) {
                Map<String, Object> headers = map();
                if (Proxy.isProxyClass(value.getClass()) && Proxy.getInvocationHandler(value) instanceof Headed) {
                    headers.putAll(((Headed) Proxy.getInvocationHandler(value)).headers);
                }
                Map<String, Object> body = leaving(app, response.getMethod("getBody").invoke(value));
                return map("http", map("statusCode", String.valueOf(response.getMethod("getStatusCode").invoke(value)), "headers", headers, "body", body));
            }
            return map("json", app.mapper.write(value));
        }
    }

    /** A response, whose headers the interface does not list. */
    static final class Headed extends Answers {
        final Map<String, String> headers;

        Headed(Map<String, String> headers, Map<String, Function<Object[], Object>> methods) {
            super(methods);
            this.headers = headers;
        }
    }

    /** What a builder of a response knows. */
    static final class Answer {
        private final AppClasses app;
        private final Object builder;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private Object status;
        private Object body;

        Answer(AppClasses app) {
            this.app = app;
            builder = app.proxy("HttpResponseMessage$Builder", Map.of(
                "status", a -> status(a[0]).self(),
                "header", a -> {
                    headers.keySet().removeIf(name -> name.equalsIgnoreCase((String) a[0]));
                    headers.put((String) a[0], (String) a[1]);
                    return self();
                },
                "body", a -> {
                    body = a[0];
                    return self();
                },
                "build", a -> build()));
        }

        Answer status(Object given) {
            status = given;
            return this;
        }

        Object self() {
            return builder;
        }

        private Object build() {
            Map<String, String> sent = new LinkedHashMap<>(headers);
            Object code = code(status);
            Object given = status;
            Object content = body;
            Map<String, Function<Object[], Object>> methods = new HashMap<>();
            methods.put("getStatus", a -> given);
            methods.put("getStatusCode", a -> code);
            methods.put("getHeader", a -> sent.entrySet().stream().filter(h -> h.getKey().equalsIgnoreCase((String) a[0])).map(Map.Entry::getValue).findFirst().orElse(null));
            methods.put("getBody", a -> content);
            return app.proxy("HttpResponseMessage", new Headed(sent, methods));
        }

        private Object code(Object status) {
            try {
                return status == null ? 200 : status instanceof Integer ? status : app.api("HttpStatusType").getMethod("value").invoke(status);
            } catch (ReflectiveOperationException error) {
                throw new IllegalArgumentException("the status " + status + " has no number", error);
            }
        }
    }

    /** JSON of the app's objects: Gson's, where the app has it, so that names and forms are those of the official worker. */
    abstract static class Mapper {
        abstract Object read(String text, Type type) throws Exception;

        abstract String write(Object value) throws Exception;

        static Mapper of(ClassLoader loader) throws ReflectiveOperationException {
            Class<?> gson;
            try {
                gson = loader.loadClass("com.google.gson.Gson");
            } catch (ClassNotFoundException none) {
                return new Fields();
            }
            Object instance = gson.getConstructor().newInstance();
            Method from = gson.getMethod("fromJson", String.class, Type.class);
            Method to = gson.getMethod("toJson", Object.class);
            return new Mapper() {
                @Override
                Object read(String text, Type type) throws Exception {
                    return from.invoke(instance, text, type);
                }

                @Override
                String write(Object value) throws Exception {
                    return (String) to.invoke(instance, value);
                }
            };
        }

        static Class<?> raw(Type type) {
            if (type instanceof Class) {
                return (Class<?>) type;
            }
            if (type instanceof ParameterizedType) {
                return raw(((ParameterizedType) type).getRawType());
            }
            if (type instanceof GenericArrayType) {
                return Array.newInstance(raw(((GenericArrayType) type).getGenericComponentType()), 0).getClass();
            }
            if (type instanceof WildcardType) {
                return raw(((WildcardType) type).getUpperBounds()[0]);
            }
            if (type instanceof TypeVariable) {
                return raw(((TypeVariable<?>) type).getBounds()[0]);
            }
            return Object.class;
        }

        /** The argument of a generic type, Object where none is given. */
        static Type argument(Type type, int number) {
            if (type instanceof ParameterizedType) {
                Type[] given = ((ParameterizedType) type).getActualTypeArguments();
                if (number < given.length) {
                    return given[number] instanceof WildcardType ? ((WildcardType) given[number]).getUpperBounds()[0] : given[number];
                }
            }
            return Object.class;
        }

        /** The type of the members of a collection or an array, null for other types. */
        static Type element(Type type) {
            Class<?> raw = raw(type);
            if (type instanceof GenericArrayType) {
                return ((GenericArrayType) type).getGenericComponentType();
            }
            if (raw.isArray()) {
                return raw.getComponentType();
            }
            return Collection.class.isAssignableFrom(raw) || raw == Iterable.class ? argument(type, 0) : null;
        }

        /** A number, a boolean, a character or an enum's value in a text, null for other types. */
        static Object simple(Class<?> type, String text) {
            try {
                return parsed(type, text);
            } catch (NumberFormatException | ArithmeticException none) {
                throw new IllegalArgumentException("\"" + text + "\" is no " + type.getSimpleName());
            }
        }

        @SuppressWarnings({"unchecked", "rawtypes"})
        private static Object parsed(Class<?> type, String text) {
            String plain = unquoted(text.trim());
            if (type == boolean.class || type == Boolean.class) {
                if (!plain.equalsIgnoreCase("true") && !plain.equalsIgnoreCase("false")) {
                    throw new IllegalArgumentException("\"" + text + "\" is neither true nor false");
                }
                return Boolean.valueOf(plain);
            }
            if (type == char.class || type == Character.class) {
                if (text.length() != 1) {
                    throw new IllegalArgumentException("\"" + text + "\" is not one character");
                }
                return text.charAt(0);
            }
            if (type == int.class || type == Integer.class) {
                return new BigDecimal(plain).intValueExact();
            }
            if (type == long.class || type == Long.class) {
                return new BigDecimal(plain).longValueExact();
            }
            if (type == short.class || type == Short.class) {
                return new BigDecimal(plain).shortValueExact();
            }
            if (type == byte.class || type == Byte.class) {
                return new BigDecimal(plain).byteValueExact();
            }
            if (type == double.class || type == Double.class) {
                return Double.valueOf(plain);
            }
            if (type == float.class || type == Float.class) {
                return Float.valueOf(plain);
            }
            if (type == BigDecimal.class || type == Number.class) {
                return new BigDecimal(plain);
            }
            if (type == BigInteger.class) {
                return new BigInteger(plain);
            }
            if (type == UUID.class) {
                return UUID.fromString(plain);
            }
            if (type.isEnum()) {
                return Enum.valueOf((Class<Enum>) type, plain);
            }
            return null;
        }

        private static String unquoted(String text) {
            return text.length() > 1 && text.startsWith("\"") && text.endsWith("\"") ? text.substring(1, text.length() - 1) : text;
        }

        /** Members as a collection or array of a type. */
        static Object collection(Type type, List<?> members) {
            Class<?> raw = raw(type);
            if (raw.isArray()) {
                Object array = Array.newInstance(raw.getComponentType(), members.size());
                for (int i = 0; i < members.size(); i++) {
                    Array.set(array, i, members.get(i));
                }
                return array;
            }
            Collection<Object> out;
            if (!raw.isInterface() && !Modifier.isAbstract(raw.getModifiers())) {
                out = instance(raw);
            } else if (raw.isAssignableFrom(ArrayList.class)) {
                out = new ArrayList<>();
            } else if (raw == SortedSet.class || raw == java.util.NavigableSet.class) {
                out = new TreeSet<>();
            } else if (raw == Set.class) {
                out = new LinkedHashSet<>();
            } else if (raw == Queue.class || raw == Deque.class) {
                out = new ArrayDeque<>();
            } else {
                throw new IllegalArgumentException("there is no way to make a " + raw.getName());
            }
            out.addAll(members);
            return out;
        }

        @SuppressWarnings("unchecked")
        static <T> T instance(Class<?> type) {
            try {
                Constructor<?> plain = type.getDeclaredConstructor();
                plain.setAccessible(true);
                return (T) plain.newInstance();
            } catch (NoSuchMethodException none) {
                return (T) unconstructed(type);
            } catch (ReflectiveOperationException error) {
                throw new IllegalArgumentException("no " + type.getName() + " can be made: " + error, error);
            }
        }

        /** An object whose class has no constructor without parameters: Gson makes it like this, too. */
        private static Object unconstructed(Class<?> type) {
            try {
                Class<?> unsafe = Class.forName("sun.misc.Unsafe");
                Field one = unsafe.getDeclaredField("theUnsafe");
                one.setAccessible(true);
                return unsafe.getMethod("allocateInstance", Class.class).invoke(one.get(null), type);
            } catch (ReflectiveOperationException error) {
                throw new IllegalArgumentException("class " + type.getName() + " has no constructor without parameters", error);
            }
        }
    }

    /** The mapper for apps without Gson, by the same rules: fields, not setters; null is left out. */
    static final class Fields extends Mapper {
        @Override
        Object read(String text, Type type) {
            return of(Json.parseLenient(text), type, Map.of(), "$");
        }

        @Override
        String write(Object value) {
            StringBuilder out = new StringBuilder();
            Json.write(out, tree(value, 0), true);
            return out.toString();
        }

        private static Type resolved(Type type, Map<TypeVariable<?>, Type> variables) {
            if (type instanceof TypeVariable) {
                return variables.getOrDefault(type, ((TypeVariable<?>) type).getBounds()[0]);
            }
            return type instanceof WildcardType ? resolved(((WildcardType) type).getUpperBounds()[0], variables) : type;
        }

        private static Object of(Object tree, Type given, Map<TypeVariable<?>, Type> variables, String at) {
            Type type = resolved(given, variables);
            Class<?> raw = raw(type);
            if (raw == Optional.class) {
                return Optional.ofNullable(tree == null ? null : of(tree, argument(type, 0), variables, at));
            }
            if (tree == null) {
                return null;
            }
            if (raw == Object.class) {
                return plain(tree);
            }
            try {
                if (!(tree instanceof Map) && !(tree instanceof List)) {
                    if (raw == String.class || raw == CharSequence.class) {
                        return tree.toString();
                    }
                    Object simple = simple(raw, tree.toString());
                    if (simple != null) {
                        return simple;
                    }
                    if (raw == URI.class) {
                        return URI.create(tree.toString());
                    }
                }
            } catch (IllegalArgumentException error) {
                throw new IllegalArgumentException("at " + at + ": " + error.getMessage(), error);
            }
            Type element = element(type);
            if (element != null) {
                List<Object> members = new ArrayList<>();
                for (Object one : expect(tree, List.class, at, "an array")) {
                    members.add(of(one, element, variables, at + "[" + members.size() + "]"));
                }
                return collection(type, members);
            }
            Map<?, ?> object = expect(tree, Map.class, at, "an object");
            if (Map.class.isAssignableFrom(raw)) {
                Map<Object, Object> out = raw == SortedMap.class ? new TreeMap<>() : raw.isInterface() ? new LinkedHashMap<>() : instance(raw);
                for (Map.Entry<?, ?> one : object.entrySet()) {
                    out.put(of(one.getKey(), argument(type, 0), variables, at), of(one.getValue(), argument(type, 1), variables, at + "." + one.getKey()));
                }
                return out;
            }
            if (raw.isInterface() || Modifier.isAbstract(raw.getModifiers()) || raw.isPrimitive() || raw.getClassLoader() == null) {
                throw new IllegalArgumentException("at " + at + ": no " + type.getTypeName() + " can be made of JSON without Gson: add com.google.code.gson:gson to the app");
            }
            return object(object, type, raw, variables, at);
        }

        private static <T> T expect(Object tree, Class<T> type, String at, String words) {
            if (!type.isInstance(tree)) {
                throw new IllegalArgumentException("at " + at + ": " + words + " is expected, and it is " + (tree instanceof Map ? "an object" : tree instanceof List ? "an array" : tree));
            }
            return type.cast(tree);
        }

        /** JSON as plain objects; all numbers are Double, as with Gson. */
        private static Object plain(Object tree) {
            if (tree instanceof Map) {
                Map<String, Object> out = new LinkedHashMap<>();
                Json.object(tree).forEach((name, value) -> out.put(name, plain(value)));
                return out;
            }
            if (tree instanceof List) {
                return ((List<?>) tree).stream().map(Fields::plain).collect(Collectors.toCollection(ArrayList::new));
            }
            return tree instanceof Number ? (Object) ((Number) tree).doubleValue() : tree;
        }

        private static Object object(Map<?, ?> tree, Type type, Class<?> raw, Map<TypeVariable<?>, Type> outer, String at) {
            Map<TypeVariable<?>, Type> variables = new HashMap<>(outer);
            bind(type, raw, variables);
            if (raw.getSuperclass() != null && raw.getSuperclass().getName().equals("java.lang.Record")) {
                return record(tree, raw, variables, at);
            }
            Object made = instance(raw);
            for (Class<?> part = raw; part != null && part != Object.class; part = part.getSuperclass()) {
                for (Field field : fields(part)) {
                    if (tree.containsKey(field.getName())) {
                        Object value = of(tree.get(field.getName()), field.getGenericType(), variables, at + "." + field.getName());
                        try {
                            if (value != null || !field.getType().isPrimitive()) {
                                field.set(made, value);
                            }
                        } catch (IllegalAccessException error) {
                            throw new IllegalArgumentException("at " + at + "." + field.getName() + ": " + error.getMessage(), error);
                        }
                    }
                }
                bind(part.getGenericSuperclass(), part.getSuperclass(), variables);
            }
            return made;
        }

        private static void bind(Type type, Class<?> raw, Map<TypeVariable<?>, Type> variables) {
            if (type instanceof ParameterizedType && raw != null) {
                TypeVariable<?>[] names = raw.getTypeParameters();
                for (int i = 0; i < names.length; i++) {
                    variables.put(names[i], resolved(((ParameterizedType) type).getActualTypeArguments()[i], variables));
                }
            }
        }

        private static Object record(Map<?, ?> tree, Class<?> raw, Map<TypeVariable<?>, Type> variables, String at) {
            List<Field> parts = fields(raw);
            Object[] arguments = new Object[parts.size()];
            for (int i = 0; i < arguments.length; i++) {
                Field part = parts.get(i);
                arguments[i] = of(tree.get(part.getName()), part.getGenericType(), variables, at + "." + part.getName());
                if (arguments[i] == null && part.getType().isPrimitive()) {
                    arguments[i] = Array.get(Array.newInstance(part.getType(), 1), 0);
                }
            }
            try {
                Constructor<?> all = raw.getDeclaredConstructor(parts.stream().map(Field::getType).toArray(Class<?>[]::new));
                all.setAccessible(true);
                return all.newInstance(arguments);
            } catch (ReflectiveOperationException error) {
                throw new IllegalArgumentException("at " + at + ": no " + raw.getName() + " can be made: " + error, error);
            }
        }

        /** The fields that count, in their order. */
        private static List<Field> fields(Class<?> of) {
            List<Field> out = new ArrayList<>();
            for (Field field : of.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !Modifier.isTransient(field.getModifiers()) && !field.isSynthetic()) {
                    try {
                        field.setAccessible(true);
                    } catch (RuntimeException closed) {
                        throw new IllegalArgumentException("the fields of " + of.getName() + " are closed to JSON: use a class of the app", closed);
                    }
                    out.add(field);
                }
            }
            return out;
        }

        private static final int DEEPEST = 500;

        /** An object of the app as plain maps and lists. */
        private static Object tree(Object value, int depth) {
            if (depth > DEEPEST) {
                throw new IllegalArgumentException("an object refers to itself, or is nested more than " + DEEPEST + " times: it has no JSON form");
            }
            if (value instanceof Double && (((Double) value).isNaN() || ((Double) value).isInfinite()) || value instanceof Float && (((Float) value).isNaN() || ((Float) value).isInfinite())) {
                throw new IllegalArgumentException(value + " has no form in JSON");
            }
            if (value == null || value instanceof String || value instanceof Number || value instanceof Boolean) {
                return value;
            }
            if (value instanceof Enum) {
                return ((Enum<?>) value).name();
            }
            if (value instanceof CharSequence || value instanceof Character || value instanceof UUID || value instanceof URI || value instanceof URL) {
                return value.toString();
            }
            if (value instanceof Optional) {
                return tree(((Optional<?>) value).orElse(null), depth + 1);
            }
            List<Object> members = new ArrayList<>();
            if (value.getClass().isArray()) {
                for (int i = 0; i < Array.getLength(value); i++) {
                    members.add(tree(Array.get(value, i), depth + 1));
                }
                return members;
            }
            if (value instanceof Collection) {
                for (Object one : (Collection<?>) value) {
                    members.add(tree(one, depth + 1));
                }
                return members;
            }
            Map<String, Object> out = new LinkedHashMap<>();
            if (value instanceof Map) {
                ((Map<?, ?>) value).forEach((name, one) -> put(out, String.valueOf(name), tree(one, depth + 1)));
                return out;
            }
            List<Class<?>> line = new ArrayList<>();
            for (Class<?> part = value.getClass(); part != null && part != Object.class; part = part.getSuperclass()) {
                line.add(part);
            }
            for (Class<?> part : line) {
                for (Field field : fields(part)) {
                    try {
                        put(out, field.getName(), tree(field.get(value), depth + 1));
                    } catch (IllegalAccessException error) {
                        throw new IllegalArgumentException(error);
                    }
                }
            }
            return out;
        }

        private static void put(Map<String, Object> out, String name, Object value) {
            if (value != null) {
                out.put(name, value);
            }
        }
    }

    /** JSON as maps, lists, texts, numbers (BigDecimal), booleans and null. */
    static final class Json {
        private static final int DEEPEST = 1000;

        private final String text;
        private final boolean lenient;
        private int at;

        private Json(String text, boolean lenient) {
            this.text = text;
            this.lenient = lenient;
        }

        static Object parse(String text) {
            return new Json(text, false).document();
        }

        /** JSON as Gson takes it, too: single quotes, names and texts without quotes, comments, "=" for ":" and ";" for ",". */
        static Object parseLenient(String text) {
            return new Json(text, true).document();
        }

        private Object document() {
            Object value = value(0);
            space();
            if (at < text.length()) {
                throw wrong("something follows the value");
            }
            return value;
        }

        @SuppressWarnings("unchecked")
        static Map<String, Object> object(Object value) {
            return value instanceof Map ? (Map<String, Object>) value : Collections.emptyMap();
        }

        @SuppressWarnings("unchecked")
        static List<Object> array(Object value) {
            return value instanceof List ? (List<Object>) value : Collections.emptyList();
        }

        static String text(Object value) {
            return value == null ? "" : value.toString();
        }

        static int whole(Object value) {
            return value == null ? 0 : (int) Double.parseDouble(value.toString());
        }

        /** A number of a message as a text. */
        static String number(Object value) {
            return value instanceof BigDecimal && ((BigDecimal) value).scale() <= 0 && ((BigDecimal) value).scale() > -20 ? ((BigDecimal) value).toPlainString() : text(value);
        }

        private IllegalArgumentException wrong(String what) {
            return new IllegalArgumentException("it is no JSON: " + what + " at character " + (at + 1));
        }

        private void space() {
            while (at < text.length() && (" \t\r\n".indexOf(text.charAt(at)) >= 0 || lenient && comment())) {
                at++;
            }
        }

        /** Whether a comment is here; then the next character is its last one. */
        private boolean comment() {
            boolean block = text.startsWith("/*", at);
            if (!block && !text.startsWith("//", at) && text.charAt(at) != '#') {
                return false;
            }
            int end = block ? text.indexOf("*/", at + 2) : text.indexOf('\n', at);
            if (block && end < 0) {
                throw wrong("a comment does not end");
            }
            at = block ? end + 1 : end < 0 ? text.length() - 1 : end;
            return true;
        }

        /** A sign, or the one that may stand in its place. */
        private boolean skip(char wanted, char instead) {
            return skip(wanted) || lenient && skip(instead);
        }

        private boolean skip(char wanted) {
            space();
            if (at < text.length() && text.charAt(at) == wanted) {
                at++;
                return true;
            }
            return false;
        }

        private Object value(int depth) {
            if (depth > DEEPEST) {
                throw wrong("it is nested too deep");
            }
            space();
            if (at >= text.length()) {
                throw wrong("it ends too early");
            }
            if (skip('{')) {
                Map<String, Object> out = new LinkedHashMap<>();
                if (skip('}')) {
                    return out;
                }
                do {
                    String name = name();
                    if (skip(':', '=')) {
                        at += lenient && text.startsWith(">", at) && text.charAt(at - 1) == '=' ? 1 : 0;
                    } else {
                        throw wrong("a colon is expected");
                    }
                    out.put(name, value(depth + 1));
                } while (skip(',', ';'));
                if (!skip('}')) {
                    throw wrong("an object does not end");
                }
                return out;
            }
            if (skip('[')) {
                List<Object> out = new ArrayList<>();
                if (skip(']')) {
                    return out;
                }
                do {
                    out.add(value(depth + 1));
                } while (skip(',', ';'));
                if (!skip(']')) {
                    throw wrong("an array does not end");
                }
                return out;
            }
            return quoted() ? string() : word();
        }

        private boolean quoted() {
            return text.charAt(at) == '"' || lenient && text.charAt(at) == '\'';
        }

        private String name() {
            space();
            if (at < text.length() && quoted()) {
                return string();
            }
            String plain = lenient ? plain() : "";
            if (plain.isEmpty()) {
                throw wrong("a name is expected");
            }
            return plain;
        }

        /** What stands here without quotes. */
        private String plain() {
            int from = at;
            while (at < text.length() && ",]} \t\r\n:".indexOf(text.charAt(at)) < 0 && !(lenient && "/\\;#={[\f".indexOf(text.charAt(at)) >= 0)) {
                at++;
            }
            return text.substring(from, at);
        }

        private Object word() {
            int from = at;
            String word = plain();
            switch (lenient ? word.toLowerCase(Locale.ROOT) : word) {
                case "null":
                    return null;
                case "true":
                    return true;
                case "false":
                    return false;
                default:
            }
            if (!word.matches("-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]{1,5})?")) {
                if (lenient && !word.isEmpty()) {
                    return word;
                }
                at = from;
                throw wrong("\"" + word.substring(0, Math.min(20, word.length())) + "\" is unexpected");
            }
            return new BigDecimal(word);
        }

        private String string() {
            char quote = text.charAt(at);
            int from = ++at;
            StringBuilder out = null;
            while (at < text.length()) {
                char c = text.charAt(at);
                if (c == quote) {
                    String rest = text.substring(from, at++);
                    return out == null ? rest : out.append(rest).toString();
                }
                at++;
                if (c == '\\') {
                    out = (out == null ? new StringBuilder() : out).append(text, from, at - 1);
                    out.append(escaped());
                    from = at;
                }
            }
            throw wrong("a text does not end");
        }

        private char escaped() {
            if (at >= text.length()) {
                throw wrong("a text does not end");
            }
            char c = text.charAt(at++);
            int known = "bfnrt\"\\/'".indexOf(c);
            if (known >= 0 && (lenient || c != '\'')) {
                return "\b\f\n\r\t\"\\/'".charAt(known);
            }
            if (c != 'u' || at + 4 > text.length() || !text.substring(at, at + 4).matches("[0-9a-fA-F]{4}")) {
                throw wrong("an escape is unknown");
            }
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        }

        /** Writes maps, lists, texts, numbers and booleans. Gson writes what means something in HTML as an escape. */
        static void write(StringBuilder out, Object value, boolean html) {
            if (value instanceof Map) {
                char before = '{';
                for (Map.Entry<?, ?> one : ((Map<?, ?>) value).entrySet()) {
                    quote(out.append(before), one.getKey().toString(), html);
                    write(out.append(':'), one.getValue(), html);
                    before = ',';
                }
                out.append(before == '{' ? "{}" : "}");
            } else if (value instanceof Collection) {
                char before = '[';
                for (Object one : (Collection<?>) value) {
                    write(out.append(before), one, html);
                    before = ',';
                }
                out.append(before == '[' ? "[]" : "]");
            } else if (value == null || value instanceof Number || value instanceof Boolean) {
                out.append(value);
            } else {
                quote(out, value.toString(), html);
            }
        }

        private static void quote(StringBuilder out, String text, boolean html) {
            out.append('"');
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                int brief = "\"\\\b\f\n\r\t".indexOf(c); // as Gson has them
                if (brief >= 0) {
                    out.append('\\').append("\"\\bfnrt".charAt(brief));
                } else if (c < ' ' || c == '\u2028' || c == '\u2029' || html && "<>&='".indexOf(c) >= 0) {
                    out.append(String.format("\\u%04x", (int) c));
                } else if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                    out.append(c).append(text.charAt(++i));
                } else {
                    out.append(Character.isSurrogate(c) ? '\ufffd' : c); // half a character
                }
            }
            out.append('"');
        }
    }
}

package io.github.redeliver.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;

/** What a host is started with. */
public final class Options {
    private static final Duration USUAL = Duration.ofSeconds(30);

    private final Map<String, Object> sent = new LinkedHashMap<>();
    private final Map<String, FunctionSpec> functions = new LinkedHashMap<>();
    private final Map<String, Object> settings = new LinkedHashMap<>();
    private final List<String> switches = new ArrayList<>();
    final List<Object> attached = new ArrayList<>();
    private Path app;
    private long seed = chosen();
    Duration timeout = limit();
    RedeliverClock clock = new RedeliverClock();
    Executor executor; // null: the thread of the test

    Options() {
    }

    /** The folder of an app. What is not attached runs in a process of its own: give the folder below target/azure-functions that "mvn package" has made. */
    public Options app(Path folder) {
        app = Objects.requireNonNull(folder, "the folder of the app is null");
        return this;
    }

    /** Functions of the app, which run in this process: a class with annotations, of which each call has a new object, or an object of one. host.json and local.settings.json of the working directory count unless {@link #app} says otherwise. */
    public Options attach(Object... classesOrObjects) {
        attached.addAll(Arrays.asList(classesOrObjects));
        return this;
    }

    /** A function of the test. */
    public Options function(String name, FunctionSpec function) {
        functions.put(Values.named("the function", name), Objects.requireNonNull(function, () -> "function " + name + " is null"));
        return this;
    }

    /** What is laid over host.json. */
    public Options host(Map<String, ?> json) {
        sent.put("host", json);
        return this;
    }

    /** A setting of the app. */
    public Options setting(String name, String value) {
        settings.put(Values.named("the setting", name), Objects.requireNonNull(value, () -> "setting " + name + " is null"));
        return this;
    }

    /** A switch. */
    public Options set(String name, Object value) {
        switches.add(name + "=" + value);
        return this;
    }

    /** Entities of Service Bus, Event Hubs and Event Grid, as in a scenario. */
    public Options entities(Map<String, ?> json) {
        sent.put("entities", json);
        return this;
    }

    /** The seed; 1, or that of REDELIVER_SEED, unless it is given. */
    public Options seed(long seed) {
        if (seed < 0) {
            throw new IllegalArgumentException("the seed has to be a number from 0, and is " + seed);
        }
        this.seed = seed;
        return this;
    }

    /** When virtual time begins; 2030-01-01 unless it is given. */
    public Options start(Instant at) {
        sent.put("start", at.toString());
        return this;
    }

    /** The real limit of a call and of a handler; 30 seconds, or that of REDELIVER_TIMEOUT, unless it is given. None counts while a debugger may be there. */
    public Options timeout(Duration limit) {
        timeout = positive("the timeout", limit);
        return this;
    }

    /** With listeners for SDK clients, whose places {@link RedeliverHost#connectionString} tells. */
    public Options ports() {
        sent.put("ports", true);
        return this;
    }

    /** With more than one instance, see {@link RedeliverHost#scaleOut}. */
    public Options instances() {
        sent.put("instances", true);
        return this;
    }

    /** The name of the test. */
    public Options name(String name) {
        if (name != null) {
            sent.put("name", name);
        }
        return this;
    }

    Object name() {
        return sent.get("name");
    }

    /** A clock that objects of the app have, which is the host's from its start on. */
    public Options clock(RedeliverClock clock) {
        this.clock = clock;
        return this;
    }

    /** Where handlers run: side by side on the threads of an executor, and not one after the other on the thread of the test. */
    public Options handlersOn(Executor executor) {
        this.executor = executor;
        return this;
    }

    private static Duration positive(String what, Duration limit) {
        if (limit == null || limit.isZero() || limit.isNegative()) {
            throw new IllegalArgumentException(what + " has to be above zero, and is " + limit);
        }
        return limit;
    }

    private static long chosen() {
        String given = System.getenv("REDELIVER_SEED");
        if (given == null || given.isEmpty()) {
            return 1;
        }
        if (given.equals("random")) {
            return ThreadLocalRandom.current().nextLong(1, 1L << 32);
        }
        try {
            return Long.parseLong(given);
        } catch (NumberFormatException none) {
            throw new KitException("bad_request", "REDELIVER_SEED is \"" + given + "\", and has to be a whole number or random", "");
        }
    }

    private static Duration limit() {
        String given = System.getenv("REDELIVER_TIMEOUT");
        if (given == null || given.isEmpty()) {
            return USUAL;
        }
        try {
            return positive("REDELIVER_TIMEOUT", Duration.ofNanos((long) (Double.parseDouble(given.replaceAll("s$", "")) * 1e9)));
        } catch (NumberFormatException none) {
            throw new KitException("bad_request", "REDELIVER_TIMEOUT is \"" + given + "\", and has to be seconds, such as 30 or 30s", "");
        }
    }


    /** The request that starts the host. */
    Map<String, Object> request(Handlers handlers) {
        Map<String, Object> out = new LinkedHashMap<>(sent);
        out.put("seed", seed);
        Map<String, Object> all = new LinkedHashMap<>();
        functions.forEach((name, function) -> all.put(name, function.handler() == null ? function.members() : handlers.add(name, function)));
        attached.forEach(handlers::add);
        if (!all.isEmpty()) {
            out.put("functions", all);
        }
        if (!handlers.isEmpty()) {
            out.put("attached", true);
        }
        if (app != null || !attached.isEmpty() && Files.isRegularFile(Path.of("host.json"))) {
            out.put("app", (app == null ? Path.of("") : app).toAbsolutePath().normalize().toString());
        }
        if (!settings.isEmpty()) {
            out.put("settings", settings);
        }
        if (!switches.isEmpty()) {
            out.put("set", switches);
        }
        return out;
    }
}

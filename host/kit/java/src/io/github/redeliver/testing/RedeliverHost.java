package io.github.redeliver.testing;

import io.github.redeliver.worker.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/** A host of one test: its own services, clock and journal. Nothing happens between two calls. */
public final class RedeliverHost implements AutoCloseable {
    private static final String BYTES = "application/octet-stream";
    private static final String JSON = "application/json";

    private final Options options;
    private Kit kit;
    private Turns turns;
    private Client client;
    private Handlers handlers;
    private Told started;
    private String id;
    private Map<String, String> environment = Map.of();
    private boolean stopped;

    RedeliverHost(Options options) {
        this.options = options;
        open();
    }

    private void open() {
        kit = Kit.get();
        try {
            begin();
        } catch (KitException error) {
            if (!error.code().equals("kit_ended") || id != null || kit.lives()) {
                throw error;
            }
            kit = Kit.get(); // the one of the test before was killed, and this one was the first to see
            begin();
        }
    }

    private void begin() {
        turns = new Turns(options.timeout, options.executor);
        client = new Client(kit, turns);
        handlers = new Handlers();
        id = null;
        Told told = new Told(client.ask("POST", "/kit/hosts", options.request(handlers)));
        id = told.text("id");
        started = told;
        stopped = false;
        try {
            if (!handlers.isEmpty()) {
                handlers.connect(new Told(told.object("worker")), turns);
                started = verb("POST", "ready", null);
                Map<String, String> given = new LinkedHashMap<>();
                started.list("environment").forEach(entry -> given.put(entry.toString().split("=", 2)[0], entry.toString().split("=", 2)[1]));
                environment = given;
            }
            options.clock.of(this);
            options.clock.told(started.has("begins") ? started.time("begins") : options.clock.instant());
        } catch (RuntimeException | Error error) {
            try {
                close();
            } catch (RuntimeException | Error second) {
                error.addSuppressed(second);
            }
            throw error;
        }
    }

    private String path(String operation) {
        return "/kit/hosts/" + id + "/" + operation;
    }

    Told verb(String method, String operation, Map<String, Object> body) {
        return new Told(client.ask(method, path(operation), body));
    }

    /** Does an operation of the control API. */
    Object control(String method, String operation, Query query, byte[] body, String type) {
        return Client.checked(admin(method, operation, query, body, type));
    }

    private Response admin(String method, String operation, Query query, byte[] body, String type) {
        String target = path("admin/redeliver/" + operation) + (query == null ? "" : query);
        return client.raw(method, target, body, body == null ? Map.of() : Map.of("Content-Type", type));
    }

    private static <T> T with(T made, Consumer<T> given) {
        given.accept(made);
        return made;
    }

    Instant drive(Map<String, Object> how) {
        Told told = verb("POST", "drive", how);
        if (how.containsKey("idle") && told.text("stopped").equals("horizon")) {
            throw Failures.failure("something is still left to happen after 7 days of virtual time; it is " + told.text("now") + "\n" + again(), null, null);
        }
        return options.clock.told(told.time("now"));
    }

    /** The name of the test; null where it is not known. */
    String name() {
        return options.name() == null ? null : options.name().toString();
    }

    /** How the same run is had again. */
    String again() {
        return Again.text(Path.of(""), seed(), options.name());
    }

    /** The virtual time: to a handler that of its call. */
    Instant now() {
        Turn here = turns.here();
        return here != null && here.now() != null ? here.now() : new Told(control("GET", "clock", null, null, null)).time("now");
    }

    /** Waits in virtual time for the handler that runs on this thread, or moves it. */
    Instant sleep(Duration time) {
        Turn here = turns.here();
        if (here == null) {
            return drive(Json.map("by", Values.span(time)));
        }
        Map<String, Object> wait = Json.map("for", Values.span(time), "invocation", here.invocation, "drive", Turns.onTheTest());
        Told told = turns.sleeping(() -> verb("POST", "clock/wait", wait));
        if (told.text("stopped").equals("cancelled")) {
            throw new KitException("cancelled", "the call of a handler that sleeps has to end", "");
        }
        here.slept(told.time("now"));
        return here.now();
    }

    /** Ends the host. An assertion error says what the test has asked for and nothing has met, such as a fault. Further calls do nothing. */
    @Override
    public void close() {
        if (stopped) {
            return;
        }
        stopped = true;
        try {
            options.clock.instant();
        } catch (RuntimeException ended) {
            // it stands where it was
        }
        options.clock.of(null);
        try {
            List<Object> failures = new Told(client.ask("DELETE", "/kit/hosts/" + id, null)).list("failures");
            if (!failures.isEmpty()) {
                throw Failures.of(failures, "");
            }
        } finally {
            handlers.close();
        }
    }

    // What comes in.

    /** Sends a message to a queue, and runs the deliveries that it starts. Answers its ID. */
    public String send(String queue, Object body) {
        return send(queue, body, message -> { });
    }

    /** Sends a message to a queue, with what it has beside its body. */
    public String send(String queue, Object body, Consumer<QueueMessage> more) {
        Query query = with(new QueueMessage(), more).query;
        return new Told(control("POST", "queues/" + Query.escaped(Values.named("the queue", queue)) + "/messages", query, Values.encoded(body), BYTES)).text("id");
    }

    /** Sends a message to a queue or a topic of Service Bus. Answers its ID. */
    public String sendServiceBus(String path, Object body) {
        return sendServiceBus(path, body, message -> { });
    }

    /** Sends a message to a queue or a topic of Service Bus, with what it has beside its body. */
    public String sendServiceBus(String path, Object body, Consumer<BusMessage> more) {
        Query query = with(new BusMessage(), more).query.add("path", Values.named("the entity", path));
        return new Told(control("POST", "servicebus/messages", query, Values.encoded(body), BYTES)).text("messageId");
    }

    /** Publishes events to a topic of Event Grid. Answers their IDs. */
    public List<String> publish(String topic, Object... events) {
        return ids(control("POST", "eventgrid/events", new Query().add("topic", Values.named("the topic", topic)), Values.encoded(filled("events", events)), JSON));
    }

    /** Sends events to an event hub, in order. */
    public void sendEvents(String hub, Object... bodies) {
        sendEventsTo(hub, null, bodies);
    }

    /** Sends events with a partition key to an event hub, in order. */
    public void sendEventsTo(String hub, String key, Object... bodies) {
        for (Object body : filled("bodies", bodies)) {
            control("POST", "eventhubs/events", new Query().add("hub", Values.named("the hub", hub)).add("key", key), Values.encoded(body), BYTES);
        }
    }

    /** Writes a blob; the path is container/name. */
    public void upload(String path, Object data) {
        upload(path, data, BYTES);
    }

    /** Writes a blob of a type. */
    public void upload(String path, Object data, String contentType) {
        String[] parts = path.split("/", 2);
        control("PUT", "containers/" + Query.escaped(parts[0]) + "/blob", new Query().add("name", parts.length > 1 ? parts[1] : "").add("create", true), Values.encoded(data), contentType);
    }

    /** Writes documents of Cosmos DB; the container is database/container. Answers their IDs. */
    public List<String> write(String container, Object... documents) {
        return ids(control("POST", "cosmos/documents", new Query().add("container", Values.named("the container", container)).add("create", true), Values.encoded(filled("documents", documents)), JSON));
    }

    private static List<Object> filled(String what, Object... given) {
        if (given.length == 0) {
            throw new IllegalArgumentException("there are no " + what + ": nothing would be sent");
        }
        return Arrays.asList(given);
    }

    private static List<String> ids(Object told) {
        List<String> out = new ArrayList<>();
        new Told(told).list("ids").forEach(one -> out.add(Json.text(one)));
        return out;
    }

    /** Makes a request of an HTTP function; the path is as in a URL, "/api/orders". */
    public Response request(String method, String path) {
        return request(method, path, request -> { });
    }

    /** Makes a request with a body and headers. */
    public Response request(String method, String path, Consumer<Request> more) {
        if (!path.startsWith("/")) {
            throw new IllegalArgumentException("the path \"" + path + "\" has to begin with a slash, as in \"/api/orders\"");
        }
        Request request = with(new Request(), more);
        Response answer = client.raw(method, path("http" + path), request.body, request.headers);
        if (answer.header("Redeliver-Refusal") != null) {
            Client.checked(answer);
        }
        return answer;
    }

    /** Calls a function by hand, as the admin API does. */
    public Called call(String function, Object input) {
        return new Called(verb("POST", "call", Json.map("function", Values.named("the function", function), "input", input == null ? "" : new String(Values.encoded(input), StandardCharsets.UTF_8))).members());
    }

    // What a test waits for: time moves until it happens. A wait that is in vain fails at once.

    /** The next end of a delivery. */
    public JournalRecord settled() {
        return until(Map.of("settled", true));
    }

    /** The next end of a function's delivery. */
    public JournalRecord settled(String function) {
        return until(Map.of("settled", Values.named("the function", function)));
    }

    /** The next message that a function is done with. */
    public JournalRecord completed() {
        return until(Map.of("completed", true));
    }

    /** The next message that this function is done with. */
    public JournalRecord completed(String function) {
        return until(Map.of("completed", Values.named("the function", function)));
    }

    /** The next message that is poison. */
    public JournalRecord poisoned() {
        return until(Map.of("poisoned", true));
    }

    /** The next message that is poison to this function. */
    public JournalRecord poisoned(String function) {
        return until(Map.of("poisoned", Values.named("the function", function)));
    }

    /** The next checkpoint. */
    public JournalRecord checkpointed() {
        return until(Map.of("checkpointed", true));
    }

    /** The next checkpoint of a function of Event Hubs or Cosmos DB. */
    public JournalRecord checkpointed(String function) {
        return until(Map.of("checkpointed", Values.named("the function", function)));
    }

    /** The next dead letter. */
    public JournalRecord deadLettered() {
        return until(Map.of("deadLettered", true));
    }

    /** The next dead letter of a queue or a subscription. */
    public JournalRecord deadLettered(String path) {
        return until(Map.of("deadLettered", Values.named("the entity", path)));
    }

    /** The next record of the journal that has these members. */
    public JournalRecord until(Map<String, ?> pattern) {
        Told told = verb("POST", "drive", Json.map("until", Values.valued("until", pattern)));
        options.clock.told(told.time("now"));
        if (told.text("stopped").equals("met") && told.has("record")) {
            return new JournalRecord(told.object("record"));
        }
        throw Failures.failure(told.text("text") + "; it is " + told.text("now") + Failures.timeline(told) + "\n" + again(), null, null);
    }

    /** Moves time until nothing is left to happen but ticks of timers. */
    public Instant idle() {
        return drive(Json.map("idle", true));
    }

    // What there is. Nothing changes.

    /** The virtual time. */
    public RedeliverClock clock() {
        return options.clock;
    }

    /** All attempts so far. */
    public List<Attempt> attempts() {
        return attemptsOf(null);
    }

    /** The attempts of a function so far. */
    public List<Attempt> attempts(String function) {
        return attemptsOf(Values.named("the function", function));
    }

    private List<Attempt> attemptsOf(String function) {
        return list(client.ask("GET", path("attempts") + new Query().add("function", function), null), Attempt::new);
    }

    private static <T> List<T> list(Object told, Function<Object, T> each) {
        List<T> out = new ArrayList<>();
        Json.array(told).forEach(one -> out.add(each.apply(one)));
        return out;
    }

    /** The attempts in each delivery of a function, such as 5, 5, 5. */
    public List<Integer> deliveries(String function) {
        Map<List<Object>, Integer> counts = new LinkedHashMap<>();
        attempts(function).forEach(one -> counts.merge(List.of(one.messageId(), one.delivery(), one.deliveryId()), 1, Integer::sum));
        return new ArrayList<>(counts.values());
    }

    /** What has become of all messages, and why. */
    public String explain() {
        return explained(null);
    }

    /** What has become of a message, and why. */
    public String explain(String message) {
        return explained(Values.named("the message", message));
    }

    private String explained(String message) {
        return Failures.explained(new Told(control("GET", "explain", new Query().add("message", message), null, null)));
    }

    /** The messages of a queue that are visible. */
    public List<Message> queue(String name) {
        return list(new Told(control("GET", "queues/" + Query.escaped(Values.named("the queue", name)) + "/messages", null, null, null)).list("messages"), Message::ofQueue);
    }

    /** The messages of a Service Bus queue or subscription (topic/subscription), or of what follows these: /$DeadLetterQueue. */
    public List<Message> serviceBus(String path) {
        return list(new Told(control("GET", "servicebus/messages", new Query().add("path", entity(Values.named("the entity", path))), null, null)).list("messages"), Message::ofServiceBus);
    }

    /** The path of a queue, or of a subscription, which may be topic/subscription. */
    private static String entity(String path) {
        String[] parts = path.split("/", 2);
        boolean plain = parts.length < 2 || parts[1].startsWith("$") || parts[1].regionMatches(true, 0, "subscriptions/", 0, 14);
        return plain ? path : parts[0] + "/Subscriptions/" + parts[1];
    }

    /** The content of a blob; the path is container/name. */
    public Body blob(String path) {
        String[] parts = path.split("/", 2);
        return found(admin("GET", "containers/" + Query.escaped(parts[0]) + "/blob", new Query().add("name", parts.length > 1 ? parts[1] : ""), null, null));
    }

    private static Response found(Response answer) {
        if (answer.status() >= 400) {
            Client.checked(answer);
        }
        return answer;
    }

    /** The documents of a Cosmos DB container. */
    public List<Object> documents(String container) {
        return list(new Told(control("GET", "cosmos/documents", new Query().add("container", Values.named("the container", container)), null, null)).list("documents"), Values::plain);
    }

    /** What a function has put out to bindings that are only recorded. */
    public List<Object> outputs(String function) {
        return list(new Told(control("GET", "outputs/values", new Query().add("name", Values.named("the function", function)), null, null)).list("outputs"), Values::plain);
    }

    /** All records of the journal. */
    public List<JournalRecord> journal() {
        return records(Json.map());
    }

    /** The records that have these members. */
    public List<JournalRecord> journal(Map<String, ?> pattern) {
        return records(Json.map("pattern", Values.valued("pattern", pattern)));
    }

    private List<JournalRecord> records(Map<String, Object> asked) {
        return list(client.ask("POST", path("records"), asked), JournalRecord::new);
    }

    /** The journal as it is written, a line for each record. */
    byte[] lines() {
        return found(admin("GET", "journal", null, null, null)).bytes();
    }

    /** The lines that handlers have logged. */
    public List<String> logs() {
        return logs(Map.of("kind", "handler_log"));
    }

    /** The lines that a function's handler has logged. */
    public List<String> logs(String function) {
        return logs(Map.of("kind", "handler_log", "function", Values.named("the function", function)));
    }

    private List<String> logs(Map<String, ?> pattern) {
        List<String> out = new ArrayList<>();
        journal(pattern).forEach(line -> out.add(line.text("level") + ": " + line.text("message")));
        return out;
    }

    // What must have happened.

    /** Compares with the "then" of a scenario. An assertion error has every difference. */
    public void expect(Consumer<Then> then) {
        Told told = verb("POST", "expect", Json.map("then", Values.valued("then", with(new Then(), then).members)));
        if (!told.list("failures").isEmpty()) {
            throw Failures.of(told.list("failures"), told.text("text").replaceFirst("\\nseed \\d+; again with [^\\n]*$", "") + "\n" + again());
        }
    }

    // What goes wrong.

    /** Makes operations of a service fail, for the app. One that nothing has met fails the end of the host. */
    public void fault(Consumer<Fault> fault) {
        control("POST", "faults", with(new Fault(), fault).query, null, null);
    }

    /** Makes the next writes of a function's outputs fail. */
    public void failOutput(String function, int times, String error) {
        control("PUT", "outputs/fault", new Query().add("name", Values.named("the function", function)).add("times", times == -1 ? times : Values.whole("times", times)), Values.encoded(error), BYTES);
    }

    /** Ends the locks of a Service Bus entity, as if their time were over. */
    public void expireLocks(String path) {
        verb("POST", "expire-locks", Json.map("entity", Values.named("the entity", path)));
    }

    /** Ends the host as a power failure does. The data stays, and the test goes on. */
    public void crash() {
        verb("POST", "crash", Json.map());
    }

    /** Has the host crash the first time that a delivery of a function comes to a point. */
    public void crashAt(String function, Point point) {
        crashAt(function, point, 1);
    }

    /** Has the host crash the nth time that a delivery of a function comes to a point. */
    public void crashAt(String function, Point point, int nth) {
        verb("POST", "crash", Json.map("function", Values.named("the function", function), "point", point.word, "nth", Values.whole("nth", nth)));
    }

    /** Starts a host that has crashed, after moving time to the crash that was asked for. */
    public void startAgain() {
        verb("POST", "start", null);
    }

    /** Stops the host as Ctrl+C does, and starts it again. */
    public void restart() {
        verb("POST", "restart", null);
    }

    /** Starts another instance beside this one; the option instances has to be set. */
    public void scaleOut() {
        verb("POST", "instances", null);
    }

    // State.

    /** The data of all services. */
    public byte[] save() {
        return found(admin("GET", "state", null, null, null)).bytes();
    }

    /** Takes the data that save gave. */
    public void load(byte[] state) {
        control("PUT", "state", null, state, BYTES);
    }

    /** A new host under this one: data, clock, identifiers and journal begin anew. */
    public void reset() {
        close();
        open();
    }

    // Places.

    /** With the option ports: the connection string of storage, servicebus or eventhubs, the address of blobs, queues or eventgrid. */
    public String connectionString(String service) {
        Map<String, Object> places = started.object("connections");
        if (places.isEmpty()) {
            throw new KitException("no_ports", "the host has no places for clients", "start it with Options.ports");
        }
        String member = Map.of("servicebus", "serviceBus", "eventhubs", "serviceBus", "eventgrid", "eventGrid").getOrDefault(service, service);
        if (!places.containsKey(member)) {
            throw new KitException("no_service", "there is no place for \"" + service + "\": want storage, blobs, queues, servicebus, eventhubs or eventgrid", "");
        }
        return Json.text(places.get(member));
    }

    /** What a worker process would have in its environment: the settings of the app. Java cannot change its own. */
    public Map<String, String> environment() {
        return environment;
    }

    /** The seed: with it all happens again. */
    public long seed() {
        return (long) started.number("seed");
    }

    /** The number of the kit's process, 0 for one that was started elsewhere. */
    long pid() {
        return kit.pid();
    }
}

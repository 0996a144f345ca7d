package io.github.redeliver.testing;

import io.github.redeliver.worker.Function;
import io.github.redeliver.worker.Json;
import io.github.redeliver.worker.Link;
import io.github.redeliver.worker.Worker;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The functions of this process, and the worker's side of one host. */
final class Handlers {
    private final Map<String, Function> functions = new LinkedHashMap<>(); // by ID
    private final List<Object> metadata = new ArrayList<>();
    private Attached worker; // null: it is not connected

    boolean isEmpty() {
        return functions.isEmpty();
    }

    /** Adds the functions of a class, or of an object. */
    void add(Object classOrObject) {
        for (Declared one : Declared.of(classOrObject)) {
            add(one.name, one.metadata, one.function);
        }
    }

    /** Adds a function of the test, and returns it as a scenario has it. */
    Map<String, Object> add(String name, FunctionSpec spec) {
        Written written = new Written(name, spec);
        add(name, written.metadata(), written);
        return written.spec();
    }

    private void add(String name, Map<String, Object> declared, Function function) {
        if (functions.put(name, function) != null) {
            throw new KitException("two_functions", "two functions have the name \"" + name + "\"", "");
        }
        metadata.add(declared);
    }

    /** Connects with the host; calls are for the turns. */
    void connect(Told place, Turns turns) {
        String[] address = place.text("address").split(":");
        try {
            worker = new Attached(new Link(address[0], Integer.parseInt(address[1]), (long) place.number("maxMessageLength"), () -> { }), turns);
            worker.begin(place);
        } catch (IOException error) {
            throw new KitException("kit_ended", "the handlers cannot connect with the kit: " + error.getMessage(), "");
        }
    }

    void close() {
        if (worker != null) {
            worker.terminate(0);
        }
    }

    /** The connection. */
    private final class Attached extends Worker {
        private final Turns turns;

        Attached(Link link, Turns turns) {
            super(link);
            this.turns = turns;
        }

        void begin(Told place) {
            link.send(place.text("requestId"), "startStream", Json.map("workerId", place.text("id")));
            daemons("redeliver host").newThread(() -> {
                try {
                    serve();
                } catch (IOException ended) {
                    // so has the host
                }
            }).start();
        }

        @Override
        protected List<Object> declared() {
            return metadata;
        }

        @Override
        protected void load(String id, Map<String, Object> given) {
            if (!functions.containsKey(id)) {
                throw new KitException("no_function", "the test has no function \"" + id + "\"", "");
            }
        }

        @Override
        protected void invoke(String request, Map<String, Object> body) {
            String function = Json.text(body.get("functionId"));
            int attempt = Json.whole(Json.object(body.get("retryContext")).get("retryCount")) + 1;
            Told attributes = new Told(new Told(body.get("traceContext")).object("attributes"));
            turns.take(new Turn(function + " attempt " + attempt, Json.text(body.get("invocationId")), attributes.time("redeliver.now"), () -> answer(request, body, functions.get(function))));
        }

        @Override
        protected void terminate(long limit) {
            link.close();
        }
    }
}

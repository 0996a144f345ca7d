package io.github.redeliver.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What must have happened, as the "then" of a scenario. */
public final class Then {
    final Map<String, Object> members = new LinkedHashMap<>();

    Then() {
    }

    /** The attempts in each delivery of a function. */
    public Then deliveries(String function, Integer... attempts) {
        return function(function, "deliveries", Arrays.asList(attempts));
    }

    /** The attempts of a function. */
    public Then attempts(String function, int count) {
        return function(function, "attempts", count);
    }

    /** How the deliveries of a function ended, such as poisoned. */
    public Then ends(String function, String how) {
        return function(function, "ends", how);
    }

    /** Any member that a function has there. */
    public Then function(String name, String member, Object value) {
        Map<String, Object> functions = of("functions");
        Values.named("the function", name);
        Map<String, Object> one = new LinkedHashMap<>(io.github.redeliver.worker.Json.object(functions.get(name)));
        one.put(member, Values.valued("functions." + name + "." + member, value));
        functions.put(name, one);
        return this;
    }

    /** The messages of a queue. */
    public Then queue(String name, Object... messages) {
        of("queues").put(name, list(messages));
        return this;
    }

    /** The messages of a queue or a subscription of Service Bus, or of what follows these: /$DeadLetterQueue. */
    public Then serviceBus(String path, Object... messages) {
        of("serviceBus").put(path, list(messages));
        return this;
    }

    /** Nothing else has happened than what is named. */
    public Then nothingElse() {
        return with("nothingElse", true);
    }

    /** The rules hold that always do. */
    public Then invariants() {
        return with("invariants", true);
    }

    /** Any member. */
    public Then with(String member, Object value) {
        members.put(member, Values.valued(member, value));
        return this;
    }

    private static List<Object> list(Object... of) {
        return new ArrayList<>(Arrays.asList(of));
    }

    private Map<String, Object> of(String member) {
        Map<String, Object> out = new LinkedHashMap<>(io.github.redeliver.worker.Json.object(members.get(member)));
        members.put(member, out);
        return out;
    }
}

package io.github.redeliver.testing;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** Functions of a test, by what triggers them. */
public final class Functions {
    private Functions() {
    }

    /** A function of a queue. */
    public static FunctionSpec queue(String name) {
        return of("queueTrigger", Map.of("queueName", name));
    }

    /** A function of a Service Bus queue. */
    public static FunctionSpec serviceBus(String queue) {
        return of("serviceBusTrigger", Map.of("queueName", queue));
    }

    /** A function of a Service Bus subscription. */
    public static FunctionSpec serviceBus(String topic, String subscription) {
        return of("serviceBusTrigger", Map.of("topicName", topic, "subscriptionName", subscription));
    }

    /** A function of an event hub. */
    public static FunctionSpec eventHub(String name) {
        return of("eventHubTrigger", Map.of("eventHubName", name));
    }

    /** A function of Event Grid. */
    public static FunctionSpec eventGrid() {
        return of("eventGridTrigger", Map.of());
    }

    /** A function of blobs, such as {@code "labels/{name}"}. */
    public static FunctionSpec blob(String path) {
        return of("blobTrigger", Map.of("path", path));
    }

    /** A function of a Cosmos DB container, from its beginning. */
    public static FunctionSpec cosmos(String database, String container) {
        return of("cosmosDBTrigger", Map.of("databaseName", database, "containerName", container, "createLeaseContainerIfNotExists", true, "startFromBeginning", true));
    }

    /** A function of requests, that anybody may make, of some methods or of all. */
    public static FunctionSpec http(String route, String... methods) {
        Map<String, Object> trigger = new LinkedHashMap<>(Map.of("route", route, "authLevel", "anonymous"));
        if (methods.length > 0) {
            trigger.put("methods", Arrays.asList(methods));
        }
        return of("httpTrigger", trigger);
    }

    /** A function of a schedule, such as {@code "0 *}{@code /5 * * * *"}. */
    public static FunctionSpec timer(String schedule) {
        return of("timerTrigger", Map.of("schedule", schedule));
    }

    /** A function of any trigger, with its members as in function.json. */
    public static FunctionSpec of(String type, Map<String, ?> members) {
        Map<String, Object> trigger = new LinkedHashMap<>(Map.of("type", type));
        trigger.putAll(members);
        return new FunctionSpec(new LinkedHashMap<>(Map.of("trigger", trigger)), null);
    }
}

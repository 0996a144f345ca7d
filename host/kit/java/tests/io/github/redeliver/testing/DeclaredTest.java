package io.github.redeliver.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.azure.functions.HttpMethod;
import com.microsoft.azure.functions.HttpRequestMessage;
import com.microsoft.azure.functions.HttpResponseMessage;
import com.microsoft.azure.functions.HttpStatus;
import com.microsoft.azure.functions.OutputBinding;
import com.microsoft.azure.functions.annotation.AuthorizationLevel;
import com.microsoft.azure.functions.annotation.BindingName;
import com.microsoft.azure.functions.annotation.BlobOutput;
import com.microsoft.azure.functions.annotation.Cardinality;
import com.microsoft.azure.functions.annotation.CosmosDBInput;
import com.microsoft.azure.functions.annotation.CustomBinding;
import com.microsoft.azure.functions.annotation.EventHubTrigger;
import com.microsoft.azure.functions.annotation.ExponentialBackoffRetry;
import com.microsoft.azure.functions.annotation.FixedDelayRetry;
import com.microsoft.azure.functions.annotation.FunctionName;
import com.microsoft.azure.functions.annotation.HttpTrigger;
import com.microsoft.azure.functions.annotation.QueueOutput;
import com.microsoft.azure.functions.annotation.QueueTrigger;
import com.microsoft.azure.functions.annotation.ServiceBusTopicTrigger;
import com.microsoft.azure.functions.annotation.StorageAccount;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Annotations are read as the platform's build for Maven does (spec workers-dotnet-java 2.1). */
class DeclaredTest {
    public static class App {
        @StorageAccount("Shelves")
        @FunctionName("A")
        @ExponentialBackoffRetry(maxRetryCount = -1, minimumInterval = "00:00:04", maximumInterval = "1.00:15:00.5")
        @QueueOutput(name = "ignored", queueName = "out")
        public String a(@EventHubTrigger(name = "events", eventHubName = "telemetry", connection = "Hub") List<String> events) {
            return "";
        }

        @StorageAccount("Shelves")
        @FunctionName("B")
        @FixedDelayRetry(maxRetryCount = 1, delayInterval = "00:00:10")
        public HttpResponseMessage b(
            @HttpTrigger(name = "request", methods = {HttpMethod.GET, HttpMethod.POST}, authLevel = AuthorizationLevel.ANONYMOUS, route = "boxes/{id}") HttpRequestMessage<Optional<String>> request,
            @BindingName("id") String id,
            @BlobOutput(name = "label", path = "labels/{id}") OutputBinding<String> label) {
            label.setValue("label of " + id);
            return request.createResponseBuilder(HttpStatus.CREATED).header("own", "1").body(id + request.getBody().orElse("")).build();
        }

        @FunctionName("C")
        public static void c(
            @ServiceBusTopicTrigger(name = "order", topicName = "orders", subscriptionName = "all", connection = "Bus", cardinality = Cardinality.MANY) String order,
            @CosmosDBInput(name = "document", databaseName = "shop", containerName = "orders", connection = "Cosmos", id = "{Id}") String document,
            @CustomBinding(direction = "in", name = "own", type = "ownThing") String own) {
        }
    }

    private static List<Object> bindings(Declared of) {
        List<Object> out = new ArrayList<>();
        new Told(of.metadata).list("rawBindings").forEach(one -> out.add(Values.plain(Values.parse(one.toString()))));
        return out;
    }

    @Test
    void bindingsAreThoseOfFunctionJson() {
        List<Declared> all = Declared.of(App.class);
        assertEquals(List.of("A", "B", "C"), List.of(all.get(0).name, all.get(1).name, all.get(2).name));
        assertEquals(List.of(
            Map.of("type", "eventHubTrigger", "direction", "in", "name", "events", "eventHubName", "telemetry", "connection", "Hub", "cardinality", "MANY"),
            Map.of("type", "queue", "direction", "out", "name", "$return", "queueName", "out", "connection", "Shelves")), bindings(all.get(0)));
        assertEquals(List.of(
            Map.of("type", "httpTrigger", "direction", "in", "name", "request", "methods", List.of("GET", "POST"), "authLevel", "ANONYMOUS", "route", "boxes/{id}"),
            Map.of("type", "blob", "direction", "out", "name", "label", "path", "labels/{id}", "connection", "Shelves"),
            Map.of("type", "http", "direction", "out", "name", "$return")), bindings(all.get(1)));
        assertEquals(List.of(
            Map.of("type", "serviceBusTrigger", "direction", "in", "name", "order", "topicName", "orders", "subscriptionName", "all", "connection", "Bus", "cardinality", "MANY"),
            Map.of("type", "cosmosDB", "direction", "in", "name", "document", "databaseName", "shop", "containerName", "orders", "connection", "Cosmos", "id", "{Id}"),
            Map.of("type", "ownThing", "direction", "in", "name", "own")), bindings(all.get(2)));
        assertEquals(Map.of("maxRetryCount", -1, "retryStrategy", "exponential_backoff", "minimumInterval", "4s", "maximumInterval", "87300.5s"), all.get(0).metadata.get("retryOptions"));
        assertEquals(Map.of("maxRetryCount", 1, "retryStrategy", "fixed_delay", "delayInterval", "10s"), all.get(1).metadata.get("retryOptions"));
    }

    public static class Web {
        @FunctionName("Box")
        public HttpResponseMessage box(
            @HttpTrigger(name = "request", methods = {HttpMethod.POST}, authLevel = AuthorizationLevel.ANONYMOUS, route = "boxes/{id}") HttpRequestMessage<Optional<String>> request,
            @BindingName("id") String id,
            @QueueOutput(name = "packed", queueName = "packed", connection = "AzureWebJobsStorage") OutputBinding<String> packed) {
            packed.setValue(id);
            return request.createResponseBuilder(HttpStatus.CREATED).header("own", "1").body(id + request.getBody().orElse("")).build();
        }
    }

    @Test
    void requestsReachAnnotatedMethods() {
        try (RedeliverHost host = Redeliver.start(o -> o.attach(Web.class))) {
            Response answer = host.request("POST", "/api/boxes/7", request -> request.body(" of nuts"));
            assertEquals("201 7 of nuts 1", answer.status() + " " + answer.text() + " " + answer.header("Own"));
            assertEquals("7", host.queue("packed").get(0).text());
        }
    }

    public static class Bad {
        @FunctionName("Bad")
        @FixedDelayRetry(maxRetryCount = 1, delayInterval = "soon")
        public void bad(@QueueTrigger(name = "item", queueName = "boxes", connection = "") String item) {
        }
    }

    public static class Unbound {
        @FunctionName("Unbound")
        public void unbound(String item) {
        }
    }

    @Test
    void whatCannotBeCalledIsRefused() {
        assertTrue(assertThrows(KitException.class, () -> Declared.of(Bad.class)).getMessage().contains("function Bad: delayInterval of the retry policy is \"soon\""));
        assertTrue(assertThrows(KitException.class, () -> Declared.of(Unbound.class)).getMessage().contains("function Unbound: the parameter String"));
        assertEquals("no_functions", assertThrows(KitException.class, () -> Declared.of("text")).code());
        assertEquals("two_functions", assertThrows(KitException.class, () -> Redeliver.start(o -> o.attach(Web.class, new Web()))).code());
    }
}

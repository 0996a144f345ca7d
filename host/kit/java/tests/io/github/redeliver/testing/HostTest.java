package io.github.redeliver.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.AssertionFailedError;

/** Every call of a host. */
class HostTest {
    static final FunctionSpec BOXES = Functions.queue("boxes");

    /** Runs a test with a host, and ends that. */
    static void on(Consumer<Options> options, Consumer<RedeliverHost> test) {
        try (RedeliverHost host = Redeliver.start(options)) {
            test.accept(host);
        }
    }

    static Consumer<Options> pack(FunctionSpec spec) {
        return o -> o.function("Pack", spec);
    }

    public static final class Box {
        public int id;
        public List<String> labels;
    }

    @Test
    void handlersHaveTheItemAndAContext() {
        List<String> seen = new ArrayList<>();
        on(pack(BOXES.retry(Retry.fixedDelay(1, Duration.ofSeconds(30))).handler((item, context) -> {
            Box box = item.json(Box.class);
            context.log("packing " + box.id);
            seen.add(context.functionName() + " " + context.retryCount() + "/" + context.maxRetryCount() + " " + context.metadata("DequeueCount") + " " + context.metadata("none") + " " + box.labels + " " + context.invocationId().isEmpty());
            if (context.retryCount() == 0) {
                throw new IllegalStateException("no box");
            }
            return null;
        })), host -> {
            String id = host.send("boxes", Map.of("id", 7, "labels", List.of("a", "b")));
            JournalRecord end = host.completed("Pack");
            assertEquals("settled deleted", end.kind() + " " + end.text("decision"));
            assertEquals(Instant.parse("2030-01-01T00:00:30Z"), end.time());
            assertTrue(end.seq() > 0 && end.members().get("seq") instanceof Integer && end.toString().contains("\"kind\":\"settled\""));
            assertEquals(List.of("Pack 0/1 1 null [a, b] false", "Pack 1/1 1 null [a, b] false"), seen);
            assertEquals(List.of("information: packing 7", "information: packing 7"), host.logs("Pack"));
            assertEquals(host.logs(), host.logs("Pack"));
            Attempt first = host.attempts("Pack").get(0);
            assertEquals(List.of("Pack", id, 1, 1, 1, 0, 1, "failed", "retry"), List.of(
                first.function(), first.messageId(), first.delivery(), first.deliveryCount(), first.attempt(), first.retryCount(), first.maxRetryCount(), first.status(), first.decision()));
            assertEquals(Duration.ofSeconds(30), first.nextDelay());
            assertEquals("IllegalStateException: no box", first.error().type() + ": " + first.error().message());
            assertTrue(first.error().stack().contains("HostTest"), first.error().stack());
            assertEquals(Instant.parse("2030-01-01T00:00:00Z"), first.started());
            assertEquals(first.started(), first.ended());
            assertFalse(first.took().isNegative() || first.invocationId().isEmpty() || first.deliveryId().isEmpty());
            assertEquals(List.of("packing 7"), first.logs());
            Attempt last = host.attempts().get(1);
            assertEquals("deleted", last.settled());
            assertNull(last.error());
            assertNull(last.nextDelay());
            assertEquals("Pack delivery 1 attempt 2 succeeded", last.toString());
            assertTrue(host.explain().contains("attempt 1") && host.explain(id).contains(id), host.explain());
        });
    }

    @Test
    void theClockMovesWhenItIsToldToAndNotWhileAHandlerRuns() {
        on(pack(BOXES.handler((item, context) -> {
            Thread.sleep(50);
            return null;
        })), host -> {
            RedeliverClock clock = host.clock();
            Instant begin = clock.instant();
            assertEquals(Instant.parse("2030-01-01T00:00:00Z"), begin);
            host.send("boxes", "1");
            host.settled();
            assertEquals(begin, clock.instant());
            assertEquals(begin.plusSeconds(30), clock.advance(Duration.ofSeconds(30)));
            assertEquals(begin.plusMillis(30_500), clock.advance(Duration.ofMillis(500)));
            assertEquals(begin.plusMillis(3_630_500), clock.jump(Duration.ofHours(1)));
            assertEquals("+02:00", clock.withZone(java.time.ZoneOffset.ofHours(2)).getZone().toString());
            assertEquals(clock.instant(), clock.withZone(java.time.ZoneOffset.ofHours(2)).instant());
            assertFalse(clock.next().isBefore(host.idle().minus(Duration.ofDays(7))));
            assertEquals(clock.instant().plusSeconds(5), clock.sleep(Duration.ofSeconds(5)));
        });
    }

    @Test
    void objectsOfTheAppMayHaveTheClockBeforeItsHost() {
        RedeliverClock clock = Redeliver.clock();
        assertEquals(Instant.parse("2030-01-01T00:00:00Z"), clock.instant());
        List<Instant> seen = new ArrayList<>();
        on(o -> o.clock(clock).start(Instant.parse("2031-02-03T04:05:06Z")).function("Pack", BOXES.handler((item, context) -> seen.add(clock.instant()))), host -> {
            host.clock().advance(Duration.ofMinutes(1));
            host.send("boxes", "1");
            host.settled("Pack");
        });
        assertEquals(List.of(Instant.parse("2031-02-03T04:06:06Z")), seen);
        assertFalse(clock.instant().isBefore(seen.get(0)));
        assertEquals("unknown_host", assertThrows(KitException.class, () -> clock.advance(Duration.ofSeconds(1))).code());
    }

    @Test
    void services() {
        on(pack(Functions.serviceBus("orders", "all").scripted("succeed")), host -> {
            assertEquals("m1", host.sendServiceBus("orders", "1", m -> m.id("m1").subject("s").contentType("text/plain").correlationId("c").property("a", "b").delay(Duration.ofMinutes(1))));
            host.completed("Pack");
            assertEquals(List.of(), host.serviceBus("orders/all"));
        });
        on(o -> o.entities(Map.of("serviceBus", Map.of("queues", Map.of("others", Map.of("maxDeliveryCount", 2))))).function("Pack", BOXES.scripted("succeed")), host -> {
            host.sendServiceBus("others", "1");
            assertEquals("active", host.serviceBus("others").get(0).state());
        });
        on(pack(Functions.serviceBus("parcels").scripted("fail")), host -> {
            host.sendServiceBus("parcels", "2", m -> m.session("s1").property("a", "b").delay(Duration.ofDays(1)));
            Message later = host.serviceBus("parcels").get(0);
            assertEquals("2 scheduled b", later.text() + " " + later.state() + " " + later.properties().get("a"));
            host.sendServiceBus("parcels", Map.of("id", 7));
            host.deadLettered();
            Message dead = host.serviceBus("parcels/$DeadLetterQueue").get(0);
            assertEquals(Map.of("id", 7), dead.json());
            assertFalse(dead.id().isEmpty() || dead.description().isEmpty());
            assertEquals("MaxDeliveryCountExceeded ", dead.reason() + " " + dead.source());
            assertEquals(Instant.parse("2030-01-01T00:00:00Z"), dead.enqueued());
            host.expect(then -> then.serviceBus("parcels/$DeadLetterQueue", Map.of("id", 7)));
        });
        on(pack(Functions.eventHub("telemetry").scripted("succeed")), host -> {
            host.sendEventsTo("telemetry", "a", Map.of("n", 1), Map.of("n", 2));
            host.checkpointed("Pack");
            host.sendEvents("telemetry", "3");
            host.checkpointed();
        });
        on(o -> o.function("Pack", Functions.eventGrid().scripted("succeed")).host(Map.of("redeliver",
            Map.of("eventGrid", Map.of("topics", List.of(Map.of("name", "orders", "subscriptions", List.of(Map.of("name", "pack", "function", "Pack")))))))), host -> {
            assertEquals(List.of("e1"), host.publish("orders", Map.of("id", "e1", "eventType", "Order", "subject", "s", "eventTime", "2030-01-01T00:00:00Z", "data", Map.of(), "dataVersion", "1")));
            host.settled("Pack");
            host.fault(f -> f.service("eventgrid").entity("orders/pack").operation("Deliver").status(503).times(1));
            host.publish("orders", Map.of("id", "e2", "eventType", "Order", "subject", "s", "eventTime", "2030-01-01T00:00:00Z", "data", Map.of(), "dataVersion", "1"));
            host.idle();
            assertEquals(2, host.attempts("Pack").size());
        });
        on(pack(Functions.blob("labels/{name}").scripted("succeed")), host -> {
            host.upload("labels/7.txt", "label", "text/plain");
            host.upload("other/8.bin", new byte[] {1, 2});
            host.settled("Pack");
            assertEquals("label", host.blob("labels/7.txt").text());
            assertEquals(2, host.blob("other/8.bin").bytes().length);
        });
        on(pack(Functions.cosmos("shop", "orders").scripted("succeed")), host -> {
            assertEquals(List.of("7"), host.write("shop/orders", Map.of("id", "7")));
            host.settled("Pack");
            assertEquals("7", ((Map<?, ?>) host.documents("shop/orders").get(0)).get("id"));
        });
        on(pack(Functions.timer("0 */5 * * * *").scripted("succeed")), host -> {
            host.settled("Pack");
            assertEquals(Instant.parse("2030-01-01T00:05:00Z"), host.clock().instant());
        });
    }

    @Test
    void requestsAndCalls() {
        on(o -> o.function("Orders", Functions.http("orders/{id}", "post").handler((item, context) -> Reply.of(201, Map.of("id", context.metadata("id"), "got", item.json())).header("own", "1")))
            .function("Text", Functions.http("text").handler((item, context) -> "plain")), host -> {
                Response answer = host.request("POST", "/api/orders/7", request -> request.body(Map.of("id", 7)).header("x-own", "1"));
                assertEquals(201, answer.status());
                assertEquals(Map.of("id", "7", "got", Map.of("id", 7)), answer.json());
                assertEquals("1", answer.header("Own"));
                assertTrue(answer.headers().containsKey("content-type"));
                assertNull(answer.header("none"));
                assertEquals("plain", host.request("GET", "/api/text").toString());
                assertEquals(404, host.request("POST", "/api/nothing").status());
                assertThrows(IllegalArgumentException.class, () -> host.request("GET", "api/text"));
            });
        on(pack(BOXES.scripted("succeed")), host -> {
            Called called = host.call("Pack", "1");
            assertEquals("true 1 ", called.succeeded() + " " + called.attempts() + " " + called.error());
        });
    }

    @Test
    void whatFailsOnDemand() {
        FunctionSpec noticed = BOXES.binding(Map.of("type", "signalR", "direction", "out", "name", "notice", "hubName", "orders"));
        on(pack(noticed.handler((item, context) -> {
            context.output("notice", Map.of("target", "packed"));
            return null;
        })), host -> {
            host.failOutput("Pack", 1, "");
            host.send("boxes", "1");
            host.completed("Pack");
            assertEquals(List.of("failed", "succeeded"), List.of(host.attempts().get(0).status(), host.attempts().get(1).status()));
            assertTrue(host.outputs("Pack").toString().contains("packed"), host.outputs("Pack").toString());
        });
        AssertionError unmet = assertThrows(AssertionError.class, () -> on(pack(BOXES.scripted("succeed")), host -> host.fault(f -> f.service("queue").entity("boxes").operation("Delete").times(1))));
        assertTrue(unmet.getMessage().contains("nothing has met the fault of Delete"), unmet.getMessage());
        on(pack(BOXES.scripted("succeed")), host -> {
            host.fault(f -> f.service("queue").entity("boxes").operation("Delete").after().error("InternalError").latency(Duration.ofSeconds(1)).times(1));
            host.send("boxes", "1");
            host.idle();
            assertEquals(1, host.attempts("Pack").size());
        });
        on(pack(BOXES.scripted("succeed")), host -> {
            host.fault(f -> f.service("queue").entity("boxes").operation("Delete").lost().times(1));
            host.send("boxes", "1");
            host.idle();
            assertEquals(List.of(1, 1), host.deliveries("Pack"));
        });
        on(pack(Functions.serviceBus("parcels").scripted(Map.of("do", "succeed", "take", "30s", "times", 1), "succeed")), host -> {
            host.sendServiceBus("parcels", "1");
            host.expireLocks("parcels");
            host.completed();
            assertEquals(List.of(1, 1), host.deliveries("Pack"));
        });
    }

    @Test
    void aHostEndsAndBeginsAgain() {
        on(o -> o.instances().function("Pack", BOXES.redeliver(Map.of()).scripted("succeed")), host -> {
            host.send("boxes", "1", message -> message.visibility(Duration.ofMinutes(1)).ttl(Duration.ofHours(1)));
            host.crash();
            assertEquals("host_down", assertThrows(KitException.class, host::settled).code());
            host.startAgain();
            host.completed("Pack");
            host.restart();
            host.scaleOut();
        });
        on(pack(BOXES.scripted("succeed")), host -> {
            host.crashAt("Pack", Point.BEFORE_HANDLER);
            host.send("boxes", "2");
            host.startAgain();
            host.completed("Pack");
            assertEquals(List.of("lost", "succeeded"), List.of(host.attempts().get(0).status(), host.attempts().get(1).status()));
        });
        for (Point point : Point.values()) {
            assertEquals(point, Point.valueOf(point.name()));
        }
    }

    @Test
    void attachedHandlersOutliveACrash() {
        AtomicInteger calls = new AtomicInteger();
        on(pack(BOXES.handler((item, context) -> calls.incrementAndGet())), host -> {
            host.crashAt("Pack", Point.AFTER_HANDLER);
            host.send("boxes", "1");
            host.startAgain();
            host.completed("Pack");
            assertEquals(2, calls.get());
        });
    }

    @Test
    void stateIsKeptAndDropped() {
        AtomicInteger calls = new AtomicInteger();
        on(pack(BOXES.handler((item, context) -> calls.incrementAndGet())), host -> {
            host.send("kept", "1");
            host.send("boxes", "1");
            host.completed();
            byte[] state = host.save();
            host.reset();
            assertEquals(List.of(), host.attempts());
            host.load(state);
            assertEquals("1", host.queue("kept").get(0).text());
            host.send("boxes", "2");
            host.completed();
            assertEquals(2, calls.get());
        });
    }

    @Test
    void failuresSayWhy() {
        on(o -> o.seed(5).function("Pack", BOXES.retry(Retry.exponentialBackoff(1, Duration.ofSeconds(4), Duration.ofDays(1))).scripted(Map.of("do", "fail", "error", "no box", "log", "packing"))), host -> {
            assertEquals(5, host.seed());
            host.send("boxes", "1");
            host.until(Map.of("kind", "attempt_ended"));
            AssertionFailedError wrong = assertThrows(AssertionFailedError.class, () -> host.expect(then -> then.attempts("Pack", 3)));
            assertEquals("3 1", wrong.getExpected().getStringRepresentation() + " " + wrong.getActual().getStringRepresentation());
            assertTrue(wrong.getMessage().contains("want  3\n  got   1\n"), wrong.getMessage());
            assertTrue(wrong.getMessage().contains("attempt 1 of 2 failed: no box"), wrong.getMessage());
            assertTrue(wrong.getMessage().contains("seed 5; again with REDELIVER_SEED=5"), wrong.getMessage());
        });
        on(pack(BOXES.scripted(Map.of("do", "fail", "log", "packing"))), host -> {
            host.send("boxes", "1");
            host.poisoned();
            host.expect(then -> then.deliveries("Pack", 1, 1, 1, 1, 1).ends("Pack", "poisoned").function("Pack", "attempts", 5).queue("boxes-poison", 1).with("nothingElse", true).invariants().nothingElse());
        });
    }

    @Test
    void aWaitInVainFailsAtOnce() {
        on(pack(BOXES.scripted(Map.of("do", "fail", "log", "packing"))), host -> {
            host.send("boxes", "1");
            host.poisoned("Pack");
            Message poison = host.queue("boxes-poison").get(0);
            assertEquals("0 1", poison.deliveryCount() + " " + poison.text());
            assertNotNull(poison.lastError());
            AssertionError never = assertThrows(AssertionError.class, () -> host.checkpointed("Pack"));
            assertTrue(never.getMessage().contains("has not come, and nothing is left to happen"), never.getMessage());
            assertTrue(never.getMessage().contains("… 3 more like this …") || never.getMessage().contains("delivery 5"), never.getMessage());
            assertTrue(never.getMessage().contains("  log  packing"), never.getMessage());
            assertTrue(never.getMessage().contains("seed 1; again with REDELIVER_SEED=1"), never.getMessage());
        });
    }

    @Test
    void slipsAreRefused() {
        KitException unknown = assertThrows(KitException.class, () -> on(pack(BOXES.scripted("succeed")), host -> host.poisoned("Pak")));
        assertEquals("not_found", unknown.code());
        assertTrue(unknown.getMessage().contains("did you mean \"Pack\"?"), unknown.getMessage());
        on(pack(BOXES.scripted("succeed")), host -> {
            assertThrows(IllegalArgumentException.class, () -> host.publish("orders"));
            assertThrows(IllegalArgumentException.class, () -> host.sendEvents("telemetry"));
            assertThrows(IllegalArgumentException.class, () -> host.write("shop/orders"));
            assertThrows(IllegalArgumentException.class, () -> new Body("no box".getBytes()).json(Box.class));
            assertEquals("no_ports", assertThrows(KitException.class, () -> host.connectionString("storage")).code());
            assertFalse(assertThrows(KitException.class, () -> host.connectionString("storage")).hint().isEmpty());
            host.journal(Map.of("kind", "enqueued"));
            assertThrows(KitException.class, () -> host.journal(Map.of("knd", "enqueued")));
        });
    }

    /** The command is whole: of the build in the folder, and of this test. */
    @Test
    void againIsACommand(@TempDir Path folder) throws IOException {
        on(pack(BOXES.scripted("succeed")), host -> assertEquals("io.github.redeliver.testing.HostTest.againIsACommand", host.name()));
        assertEquals("seed 5; again with REDELIVER_SEED=5", Again.text(folder, 5, "shop.ShipTest.fifty"));
        Files.createFile(folder.resolve("build.gradle"));
        assertEquals("seed 5; again with REDELIVER_SEED=5 gradle test --tests 'shop.ShipTest.fifty'", Again.text(folder, 5, "shop.ShipTest.fifty"));
        Files.createFile(folder.resolve("pom.xml"));
        assertEquals("seed 5; again with REDELIVER_SEED=5 mvn test '-Dtest=shop.ShipTest#fifty'", Again.text(folder, 5, "shop.ShipTest.fifty"));
        assertEquals("seed 5; again with REDELIVER_SEED=5 mvn test", Again.text(folder, 5, null));
    }

    /** What a test has not got is no "all", and nothing is compared with it. */
    @Test
    void nullsAreRefused() {
        String none = null;
        on(pack(BOXES.scripted("succeed")), host -> {
            Map<String, Consumer<RedeliverHost>> calls = new LinkedHashMap<>();
            calls.put("attempts", h -> h.attempts(none));
            calls.put("deliveries", h -> h.deliveries(none));
            calls.put("settled", h -> h.settled(none));
            calls.put("completed", h -> h.completed(""));
            calls.put("poisoned", h -> h.poisoned(none));
            calls.put("checkpointed", h -> h.checkpointed(none));
            calls.put("deadLettered", h -> h.deadLettered(none));
            calls.put("explain", h -> h.explain(none));
            calls.put("logs", h -> h.logs(none));
            calls.put("outputs", h -> h.outputs(none));
            calls.put("queue", h -> h.queue(none));
            calls.put("send to", h -> h.send(none, 1));
            calls.put("send", h -> h.send("boxes", null));
            calls.put("not a number", h -> h.send("boxes", Double.NaN));
            calls.put("crashAt", h -> h.crashAt(none, Point.BEFORE_SETTLE));
            calls.put("crashAt never", h -> h.crashAt("Pack", Point.BEFORE_SETTLE, 0));
            calls.put("failOutput", h -> h.failOutput("Pack", 0, ""));
            calls.put("expireLocks", h -> h.expireLocks(none));
            calls.put("times", h -> h.fault(fault -> fault.service("queue").operation("Put").times(0)));
            calls.put("seeds", h -> Redeliver.seeds(0));
            calls.put("seed", h -> Redeliver.start(o -> o.seed(-1)));
            calls.put("timeout", h -> Redeliver.start(o -> o.timeout(Duration.ZERO)));
            calls.put("journal", h -> h.journal((Map<String, ?>) null));
            calls.put("then", h -> h.expect(then -> then.with("queues", null)));
            calls.put("ends", h -> h.expect(then -> then.ends("Pack", none)));
            calls.put("deep", h -> h.expect(then -> then.with("functions", Map.of("Pack", Map.of("deliveries", Arrays.asList(1, null))))));
            Map<String, Object> pattern = new HashMap<>(Map.of("kind", "settled"));
            pattern.put("function", null);
            calls.put("until", h -> h.until(pattern));
            calls.put("records", h -> h.journal(pattern));
            calls.forEach((name, call) -> assertThrows(IllegalArgumentException.class, () -> call.accept(host), name));
            calls.clear();
            calls.put("entity", h -> h.fault(fault -> fault.service("queue").entity(none)));
            calls.put("property", h -> h.sendServiceBus("parcels", 1, message -> message.property("kind", none)));
            calls.put("session", h -> h.sendServiceBus("parcels", 1, message -> message.session(none)));
            calls.put("ttl", h -> h.send("boxes", 1, message -> message.ttl(null)));
            calls.put("setting", h -> Redeliver.start(o -> o.setting("MODE", none)));
            calls.put("function", h -> Redeliver.start(o -> o.function("Pack", null)));
            calls.put("app", h -> Redeliver.start(o -> o.app(null)));
            calls.forEach((name, call) -> assertThrows(NullPointerException.class, () -> call.accept(host), name));
            assertThrows(KitException.class, () -> host.expect(then -> { }));
            assertThrows(KitException.class, () -> host.clock().advance(Duration.ofSeconds(-1)));
        });
    }

    @Test
    void hostsWithPortsHavePlaces() {
        on(o -> o.ports().set("strictSessionSend", true).name("ports").setting("MODE", "test").function("Pack", Functions.of("queueTrigger", Map.of("queueName", "boxes")).handler((item, context) -> null)), host -> {
            assertTrue(host.connectionString("servicebus").startsWith("Endpoint=sb://127.0.0.1:"), host.connectionString("servicebus"));
            assertEquals(host.connectionString("servicebus"), host.connectionString("eventhubs"));
            for (String service : List.of("storage", "blobs", "queues", "eventgrid")) {
                assertTrue(host.connectionString(service).contains("127.0.0.1"), service);
            }
            assertEquals("no_service", assertThrows(KitException.class, () -> host.connectionString("tables")).code());
            assertEquals("test", host.environment().get("MODE"));
        });
    }

    @Test
    void seedsAndJournals() {
        assertEquals("[1, 2, 3]", Arrays.toString(Redeliver.seeds(3)));
        assertEquals("[7, 8]", Arrays.toString(Redeliver.seeds(2, 7)));
        int runs = Integer.parseInt(System.getProperty("runs", "20"));
        Set<String> journals = new HashSet<>();
        for (int i = 0; i < runs; i++) {
            int nap = i % 4;
            on(o -> o.seed(7).function("Pack", BOXES.retry(Retry.fixedDelay(2, Duration.ofSeconds(30))).handler((item, context) -> {
                Thread.sleep(nap, 1 + 300_000 * (item.text().charAt(0) % 3));
                context.log("no box for " + item);
                throw new IllegalStateException("no box");
            })), host -> {
                for (String id : List.of("1", "2", "3", "4")) {
                    host.send("boxes", id);
                }
                host.poisoned();
                host.idle();
                journals.add(host.journal().toString());
            });
        }
        assertEquals(1, journals.size());
    }
}

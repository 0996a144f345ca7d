package io.github.redeliver.testing;

import static io.github.redeliver.testing.HostTest.BOXES;
import static io.github.redeliver.testing.HostTest.on;
import static io.github.redeliver.testing.HostTest.pack;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Where handlers run, and for how long. */
class HandlersTest {
    @Test
    void handlersRunOnTheThreadOfTheTestOneAfterTheOther() {
        Set<Thread> threads = new HashSet<>();
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        on(pack(BOXES.handler((item, context) -> threads.add(Thread.currentThread()))), host -> {
            for (int i = 0; i < 5; i++) {
                host.send("boxes", i);
            }
            host.idle();
            assertEquals(5, host.attempts().size());
        });
        assertEquals(Set.of(Thread.currentThread()), threads);
        assertSame(loader, Thread.currentThread().getContextClassLoader());
    }

    @Test
    void handlersOfAnExecutorRunSideBySide() {
        ExecutorService executor = Executors.newCachedThreadPool();
        CountDownLatch both = new CountDownLatch(2);
        on(o -> o.handlersOn(executor).function("Pack", BOXES.handler((item, context) -> {
            both.countDown();
            both.await();
            assertNotSame("main", Thread.currentThread().getName());
            return null;
        })), host -> {
            host.fault(f -> f.service("queue").entity("boxes").operation("Receive").latency(Duration.ofMillis(1)).times(1));
            host.send("boxes", "1", message -> message.visibility(Duration.ofSeconds(10)));
            host.send("boxes", "2", message -> message.visibility(Duration.ofSeconds(10)));
            host.idle();
            assertEquals(2, host.attempts().size());
        });
        executor.shutdown();
    }

    @Test
    void handlersMaySendAndLook() {
        List<String> seen = new ArrayList<>();
        RedeliverHost[] here = new RedeliverHost[1];
        on(o -> o.function("Pack", BOXES.handler((item, context) -> here[0].send("labels", item.text())))
            .function("Label", Functions.queue("labels").handler((item, context) -> seen.add(item.text() + " " + here[0].attempts("Pack").size()))), host -> {
                here[0] = host;
                host.send("boxes", "7");
                host.completed("Label");
            });
        assertEquals(List.of("7 1"), seen);
    }

    @Test
    void aHandlerThatHangsIsNamed() {
        KitTimeout late = assertThrows(KitTimeout.class, () -> on(o -> o.timeout(Duration.ofSeconds(5)).function("Pack", BOXES.handler((item, context) -> {
            Thread.sleep(600_000);
            return null;
        })), host -> host.send("boxes", "1")));
        assertEquals("Pack attempt 1 has run for 5 s", late.getMessage());
        assertEquals("timeout", late.code());
        assertFalse(Thread.interrupted());
    }

    @Test
    void aHandlerOfAnExecutorThatHangsIsNamed() {
        ExecutorService executor = Executors.newCachedThreadPool();
        KitTimeout late = assertThrows(KitTimeout.class, () -> on(o -> o.timeout(Duration.ofSeconds(5)).handlersOn(executor).function("Pack", BOXES.handler((item, context) -> {
            Thread.sleep(600_000);
            return null;
        })), host -> host.send("boxes", "1")));
        assertEquals("Pack attempt 1 has run for 5 s", late.getMessage());
        executor.shutdownNow();
    }

    @Test
    void functionsOfTwoKindsInOneHost() {
        on(o -> o.attach(shop.ShipFunctions.class).function("Pack", BOXES.scripted("fail")).function("Own", Functions.queue("own").handler((item, context) -> null)), host -> {
            host.sendServiceBus("parcels", "1");
            host.completed("Ship");
            host.send("own", "1");
            host.completed("Own");
            host.send("boxes", "1");
            host.poisoned("Pack");
            assertEquals(List.of("information: booking 1, retry 0"), host.logs("Ship"));
        });
    }

    @Test
    void anInterruptOfTheTestEndsItsCall() {
        Thread test = Thread.currentThread();
        KitException stopped = assertThrows(KitException.class, () -> on(pack(BOXES.handler((item, context) -> {
            test.interrupt();
            return null;
        })), host -> {
            host.send("boxes", "1");
            host.idle();
        }));
        assertEquals("interrupted", stopped.code());
        assertTrue(Thread.interrupted());
    }

    @Test
    void faultsOfSettingsAreTold() {
        KitException wrong = assertThrows(KitException.class, () -> Redeliver.start(o -> o.function("Pack", Functions.of("queueTrigger", Map.of("queueNme", "boxes")).scripted("fail"))));
        assertTrue(wrong.getMessage().contains("queueN"), wrong.getMessage());
    }

    /** Two messages whose handlers sleep at the same time, the second longer. Answers the journal. */
    private static String sleepers(ExecutorService executor) {
        RedeliverClock clock = Redeliver.clock();
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        StringBuilder journal = new StringBuilder();
        on(o -> {
            o.clock(clock).function("Pack", BOXES.handler((item, context) -> {
                String begin = clock.instant().toString();
                Thread.sleep(item.text().equals("1") ? 20 : 1);
                Instant end = clock.sleep(Duration.ofMinutes(item.text().equals("1") ? 3 : 6));
                assertEquals(end, clock.instant());
                seen.add(item + " " + begin + " " + end);
                return null;
            }));
            if (executor != null) {
                o.handlersOn(executor);
            }
        }, host -> {
            host.send("boxes", "2", message -> message.visibility(Duration.ofMinutes(1)));
            host.send("boxes", "1");
            host.completed();
            host.completed();
            journal.append(host.journal());
        });
        assertEquals(2, seen.size());
        assertEquals("1 2030-01-01T00:00:00Z 2030-01-01T00:03:00Z", seen.get(0));
        assertTrue(seen.get(1).startsWith("2 2030-01-01T00:01:0") && seen.get(1).contains(" 2030-01-01T00:07:0"), seen.get(1));
        return journal.toString();
    }

    @Test
    void handlersSleepInVirtualTime() {
        ExecutorService executor = Executors.newCachedThreadPool();
        Set<String> journals = new HashSet<>();
        for (int i = 0; i < 5; i++) {
            journals.add(sleepers(null));
            journals.add(sleepers(executor));
        }
        executor.shutdown();
        assertEquals(1, journals.size());
    }
}

package io.github.redeliver.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each test has a host of its own, which those before it have too. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ExtensionTest {
    @RegisterExtension
    static final RedeliverExtension REDELIVER = RedeliverExtension.with(o -> o.function("Pack", Functions.queue("boxes").scripted("succeed")));

    private final ThreadLocal<RedeliverHost> before = new ThreadLocal<>();

    @BeforeEach
    void send(RedeliverHost host) {
        before.set(host);
        host.send("boxes", "1");
    }

    @Test
    void first(RedeliverHost host) {
        assertSame(before.get(), host);
        host.completed("Pack");
        assertEquals(List.of(1), host.deliveries("Pack"));
    }

    @Test
    void second(RedeliverHost host) {
        host.completed("Pack");
        assertEquals(List.of(1), host.deliveries("Pack"));
    }
}

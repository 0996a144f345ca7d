package io.github.redeliver.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The app as its build has made it, in a process of its own. */
class FolderTest {
    @Test
    void anAppInItsOwnProcess() {
        try (RedeliverHost host = Redeliver.start(o -> o.app(Path.of(System.getProperty("staged"))))) {
            host.sendServiceBus("parcels", "7");
            host.completed("Ship");
            assertEquals(List.of(1), host.deliveries("Ship"));
            assertEquals(List.of("information: booking 7, retry 0"), host.logs("Ship"));
            assertTrue(host.environment().isEmpty());
        }
    }
}

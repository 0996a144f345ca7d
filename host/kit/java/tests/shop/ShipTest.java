package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.github.redeliver.testing.Functions;
import io.github.redeliver.testing.Point;
import io.github.redeliver.testing.Redeliver;
import io.github.redeliver.testing.RedeliverExtension;
import io.github.redeliver.testing.RedeliverHost;
import io.github.redeliver.testing.Retry;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ShipTest {
    final Carrier carrier = mock(Carrier.class);
    @RegisterExtension RedeliverExtension redeliver = RedeliverExtension.of(new ShipFunctions(carrier));

    @Test void fiftyAttemptsThenDeadLetter(RedeliverHost host) {
        when(carrier.book(any())).thenThrow(new IllegalStateException("carrier unavailable"));
        host.sendServiceBus("parcels", "{\"id\":7}", message -> message.id("m7"));
        host.deadLettered("parcels");
        verify(carrier, times(50)).book(any());
        assertEquals(Collections.nCopies(10, 5), host.deliveries("Ship"));
        assertEquals("MaxDeliveryCountExceeded", host.serviceBus("parcels/$DeadLetterQueue").get(0).reason());
    }

    @Test void poisonAfterFive() {
        try (var host = Redeliver.start(o -> o.function("Pack", Functions.queue("parcels").scripted("fail")))) {
            host.send("parcels", "7");
            host.poisoned("Pack");
            assertEquals(List.of(1, 1, 1, 1, 1), host.deliveries("Pack"));
        }
    }

    @Test void crashBetweenAttempts() {
        var pack = Functions.queue("parcels").retry(Retry.fixedDelay(4, Duration.ofSeconds(30))).scripted("fail");
        try (var host = Redeliver.start(o -> o.function("Pack", pack))) {
            host.crashAt("Pack", Point.BETWEEN_ATTEMPTS, 3);
            host.send("parcels", "7");
            host.startAgain();
            host.poisoned("Pack");
            assertEquals(List.of(3, 5, 5, 5, 5), host.deliveries("Pack"));
        }
    }
}

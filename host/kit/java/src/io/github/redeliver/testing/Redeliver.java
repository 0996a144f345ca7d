package io.github.redeliver.testing;

import java.util.function.Consumer;
import java.util.stream.LongStream;

/** Tests function apps with the real rules of delivery, retries and poison messages, in virtual time. */
public final class Redeliver {
    private Redeliver() {
    }

    /** Starts a host: {@code Redeliver.start(o -> o.attach(new ShipFunctions(carrier)))}. Close it with the test. */
    public static RedeliverHost start(Consumer<Options> with) {
        Options options = new Options();
        with.accept(options);
        if (options.name() == null) {
            options.name(Again.test());
        }
        return new RedeliverHost(options);
    }

    /** A clock for the objects of an app that are made before their host is, which {@link Options#clock} gives it. */
    public static RedeliverClock clock() {
        return new RedeliverClock();
    }

    /** That many seeds, from 1 on, for a test that is run with each. */
    public static long[] seeds(int count) {
        return seeds(count, 1);
    }

    /** That many seeds, from the first on. */
    public static long[] seeds(int count, long first) {
        return LongStream.range(first, first + Values.whole("the number of seeds", count)).toArray();
    }
}

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/** The assertions of these programs. */
final class Check {
    private Check() {}

    interface Call {
        void run() throws Exception;
    }

    static void equal(Object got, Object want) {
        if (!Objects.equals(got, want)) {
            throw new AssertionError("got " + got + ", want " + want);
        }
    }

    static void that(boolean ok, Object got) {
        if (!ok) {
            throw new AssertionError("got " + got);
        }
    }

    /** Runs a call that has to fail with an exception of a kind, whose code (by a function) is one. */
    static <E extends Exception> E fails(Class<E> kind, Function<E, Object> code, Object want, Call call) {
        try {
            call.run();
        } catch (Exception err) {
            for (Throwable e = err; e != null; e = e.getCause()) {
                if (kind.isInstance(e)) {
                    Object got = code.apply(kind.cast(e));
                    if (!Objects.equals(String.valueOf(got), String.valueOf(want))) {
                        throw new AssertionError("got " + got + ", want " + want, err);
                    }
                    return kind.cast(e);
                }
            }
            throw new AssertionError("want " + kind.getSimpleName() + " " + want, err);
        }
        throw new AssertionError("want " + kind.getSimpleName() + " " + want + ", got no error");
    }

    /** Fails when a call that does not wait in the cloud takes as long as a client that tries again. */
    static void within(Duration limit, Call call) throws Exception {
        long start = System.nanoTime();
        call.run();
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        if (took.compareTo(limit) > 0) {
            throw new AssertionError("took " + took + ", want at most " + limit);
        }
    }

    /** Runs the flows side by side, prints ok and ends the program. */
    static void all(Call... flows) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(flows.length);
        List<Future<?>> results = new ArrayList<>();
        for (Call flow : flows) {
            results.add(pool.submit((Callable<Void>) () -> {
                flow.run();
                return null;
            }));
        }
        int failed = 0;
        for (Future<?> result : results) {
            try {
                result.get();
            } catch (Exception err) {
                failed = 1;
                err.getCause().printStackTrace();
            }
        }
        if (failed == 0) {
            System.out.println("ok");
        }
        System.exit(failed); // the clients' threads are no reason to stay
    }
}

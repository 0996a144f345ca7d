package io.github.redeliver.testing;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * The calls of one host's handlers. They run on the thread of the test, while that waits for the kit: so what belongs to a
 * thread (static mocks, transactions, a debugger's steps) is theirs, and nothing runs beside the test. What comes while a
 * handler itself waits for the kit has a thread of its own: it may be what the handler waits for.
 */
final class Turns {
    private static final ThreadLocal<Deque<Running>> HERE = ThreadLocal.withInitial(ArrayDeque::new); // calls of this thread
    private static final Executor BESIDE = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "redeliver handler");
        thread.setDaemon(true);
        return thread;
    });
    private static final long LOOK = Duration.ofMillis(50).toNanos(); // how often a debugger is looked for, at the most

    private final Duration timeout;
    private final Executor executor; // null: the thread that waits
    private final Deque<Turn> waiting = new ArrayDeque<>();
    private final Set<String> running = new TreeSet<>(); // names
    private long alive = System.nanoTime(); // when a handler has begun or ended
    private KitTimeout over; // of a handler that was too long on its thread

    Turns(Duration timeout, Executor executor) {
        this.timeout = timeout;
        this.executor = executor;
    }

    /** The call of this host's that this thread runs; null: none. */
    Turn here() {
        Running here = HERE.get().peek();
        return here == null || here.of != this ? null : here.turn;
    }

    /** Lets the handler of this thread sleep, for which no real time counts. */
    <T> T sleeping(Supplier<T> sleep) {
        Limit limit = HERE.get().element().limit;
        if (limit == null) {
            return sleep.get();
        }
        limit.pause();
        try {
            return sleep.get();
        } finally {
            limit.begin();
        }
    }

    /** Whether this thread is the test's, which makes no other call while a handler sleeps on it. */
    static boolean onTheTest() {
        return HERE.get().element().test;
    }

    void take(Turn turn) {
        if (executor != null) {
            executor.execute(() -> run(turn, false));
            return;
        }
        synchronized (this) {
            waiting.add(turn);
            notifyAll();
        }
    }

    private void run(Turn turn, boolean test) {
        begun(turn);
        Thread thread = Thread.currentThread();
        ClassLoader loader = thread.getContextClassLoader();
        Limit limit = executor == null ? Limit.of(thread, timeout) : null; // an executor's thread is let go
        HERE.get().push(new Running(this, turn, limit, test));
        try {
            turn.call.run();
        } finally {
            boolean late = limit != null && limit.end();
            HERE.get().pop();
            thread.setContextClassLoader(loader);
            ended(turn, late);
        }
    }

    private synchronized void begun(Turn turn) {
        running.add(turn.name);
        alive = System.nanoTime();
    }

    private synchronized void ended(Turn turn, boolean late) {
        running.remove(turn.name);
        alive = System.nanoTime();
        if (late) {
            over = tooLong(turn.name);
        }
        notifyAll();
    }

    private KitTimeout tooLong(String what) {
        return new KitTimeout(what + " has run for " + Values.span(timeout).replace("s", " s"));
    }

    /** Waits for an answer of the kit, and runs handlers meanwhile. */
    <T> T await(CompletableFuture<T> answer, String what) {
        synchronized (this) {
            alive = System.nanoTime();
            over = null;
        }
        answer.whenComplete((value, error) -> wake());
        boolean within = !HERE.get().isEmpty();
        for (;;) {
            Turn turn;
            try {
                turn = next(answer, what);
            } catch (InterruptedException stopped) {
                answer.cancel(true);
                Thread.currentThread().interrupt();
                throw new KitException("interrupted", "the thread of the test was interrupted in " + what, "");
            } catch (KitTimeout late) {
                answer.cancel(true);
                throw late;
            }
            if (turn == null) {
                try {
                    return answer.join();
                } catch (CompletionException | CancellationException error) {
                    throw new IllegalStateException(error.getCause() == null ? error : error.getCause());
                }
            }
            if (within) {
                BESIDE.execute(() -> run(turn, false));
            } else {
                run(turn, true);
            }
        }
    }

    private synchronized void wake() {
        notifyAll();
    }

    /** The next call; null: the answer is there. */
    private synchronized Turn next(CompletableFuture<?> answer, String what) throws InterruptedException {
        for (;;) {
            if (over != null) {
                KitTimeout late = over;
                over = null;
                throw late;
            }
            if (answer.isDone()) {
                return null;
            }
            if (!waiting.isEmpty()) {
                return waiting.poll();
            }
            long left = alive + timeout.toNanos() - System.nanoTime();
            if (left <= 0 && !Limit.debugged()) {
                throw tooLong(running.isEmpty() ? what : String.join(", ", running));
            }
            wait(Math.max(left, LOOK) / 1_000_000);
        }
    }

    /** A call that a thread runs. */
    private static final class Running {
        final Turns of;
        final Turn turn;
        final Limit limit; // null: of an executor
        final boolean test; // on its thread

        Running(Turns of, Turn turn, Limit limit, boolean test) {
            this.of = of;
            this.turn = turn;
            this.limit = limit;
            this.test = test;
        }
    }
}

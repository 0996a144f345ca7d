package io.github.redeliver.testing;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The real limit of a handler that runs on the thread of a test: it is interrupted, and when it does not hear that, its stack is printed. */
final class Limit {
    private static final long DEAF = 5; // seconds after which a handler does not hear
    private static final boolean DEBUGGED = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .anyMatch(argument -> argument.startsWith("-agentlib:jdwp") || argument.startsWith("-Xrunjdwp"));
    private static final ScheduledThreadPoolExecutor WATCH = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "redeliver limit");
        thread.setDaemon(true);
        return thread;
    });

    static {
        WATCH.setRemoveOnCancelPolicy(true);
    }

    private final Thread thread;
    private final Duration time;
    private ScheduledFuture<?> next;
    private boolean over;
    private boolean ended;

    private Limit(Thread thread, Duration time) {
        this.thread = thread;
        this.time = time;
    }

    /** Whether this process waits for a debugger, or has one, so that no real limit counts. */
    static boolean debugged() {
        return DEBUGGED;
    }

    static Limit of(Thread thread, Duration time) {
        Limit limit = new Limit(thread, time);
        limit.begin();
        return limit;
    }

    /** Begins anew: the handler has slept in virtual time, which costs it nothing. */
    synchronized void begin() {
        pause();
        if (!DEBUGGED && !over) {
            next = WATCH.schedule(this::interrupt, time.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /** Does not count until it begins anew. */
    synchronized void pause() {
        if (next != null && !over) {
            next.cancel(false);
        }
    }

    private synchronized void interrupt() {
        if (!ended) {
            over = true;
            thread.interrupt();
            next = WATCH.schedule(this::show, DEAF, TimeUnit.SECONDS);
        }
    }

    private synchronized void show() {
        if (!ended) {
            StringBuilder text = new StringBuilder("redeliver: a handler does not hear that its limit is over:\n");
            for (StackTraceElement frame : thread.getStackTrace()) {
                text.append("\tat ").append(frame).append('\n');
            }
            System.err.print(text);
        }
    }

    /** The handler has ended. Whether that was too late. */
    synchronized boolean end() {
        ended = true;
        if (next != null) {
            next.cancel(false);
        }
        if (over) {
            Thread.interrupted(); // it was meant for the handler
        }
        return over;
    }
}

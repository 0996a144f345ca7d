package io.github.redeliver.testing;

import io.github.redeliver.worker.Json;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicReference;

/** The virtual time of a host, for tests and for code that takes a {@link Clock}. It moves in calls that wait for something, and in those that are here. */
public final class RedeliverClock extends Clock {
    private static final Instant BEGIN = Instant.parse("2030-01-01T00:00:00Z");

    private final AtomicReference<RedeliverHost> host;
    private final AtomicReference<Instant> last; // that was told
    private final ZoneId zone;

    RedeliverClock() {
        this(new AtomicReference<>(), new AtomicReference<>(BEGIN), ZoneOffset.UTC);
    }

    private RedeliverClock(AtomicReference<RedeliverHost> host, AtomicReference<Instant> last, ZoneId zone) {
        this.host = host;
        this.last = last;
        this.zone = zone;
    }

    /** The host whose time it is; null: time stands where it stood. */
    void of(RedeliverHost host) {
        this.host.set(host);
    }

    Instant told(Instant now) {
        last.set(now);
        return now;
    }

    /** The virtual time: before the host has started the beginning, after its end the last that was told. */
    @Override
    public Instant instant() {
        RedeliverHost of = host.get();
        return of == null ? last.get() : told(of.now());
    }

    @Override
    public ZoneId getZone() {
        return zone;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        return new RedeliverClock(host, last, zone);
    }

    /** Moves time forward, and runs what is due meanwhile. */
    public Instant advance(Duration by) {
        return running().drive(Json.map("by", Values.span(by)));
    }

    /** Moves time to what is due next, and runs that. */
    public Instant next() {
        return running().drive(Json.map("next", true));
    }

    /** Moves time as when the machine has slept: what was due comes late. */
    public Instant jump(Duration by) {
        return running().drive(Json.map("jump", Values.span(by)));
    }

    /** Waits in virtual time: in a handler until a call that moves time has come there; elsewhere it moves time itself. */
    public Instant sleep(Duration time) {
        return told(running().sleep(time));
    }

    private RedeliverHost running() {
        RedeliverHost of = host.get();
        if (of == null) {
            throw new KitException("unknown_host", "the clock has no host that runs", "give it to one: Redeliver.start(o -> o.clock(clock))");
        }
        return of;
    }
}

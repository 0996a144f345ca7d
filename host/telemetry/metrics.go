//clock:outside telemetry follows the journal in real time

package telemetry

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/redeliver/redeliver/host/journal"
)

// Metrics counts what the journal tells, from the host's start on. It is an http.Handler,
// for Prometheus, and a gatherer of the same series. Durations are of the host's clock.
type Metrics struct {
	registry *prometheus.Registry
	handler  http.Handler
	cancel   context.CancelFunc
	done     chan struct{}

	mu   sync.Mutex // guards the rest, and what the series count
	sub  *journal.Subscription
	open map[string]*open // deliveries in work, by name

	deliveries, attempts, retries, exhausted, settled, poisoned *prometheus.CounterVec
	deadLettered, eventAttempts                                 *prometheus.CounterVec
	active, circuit                                             *prometheus.GaugeVec
	attemptTime, deliveryTime                                   *prometheus.HistogramVec
	records, dropped                                            prometheus.Counter
	generation                                                  prometheus.Gauge
}

// open is a delivery in work.
type open struct{ received, started time.Time }

// The states of a circuit breaker, as a label has them.
const (
	circuitClosed   = "closed"
	circuitHalfOpen = "half_open"
	circuitOpen     = "open"
)

// Buckets of the histograms, in seconds: of an attempt, and of a delivery with its waits.
var (
	attemptBuckets  = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300} // read only
	deliveryBuckets = []float64{.01, .1, 1, 5, 15, 60, 300, 900, 3600, 6 * 3600, 24 * 3600}    // read only
)

// NewMetrics returns the series of a journal, which Close ends. depths, if not nil, looks at
// the queues whenever somebody asks for the series. version is the host's.
func NewMetrics(j *journal.Journal, depths Depths, version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), done: make(chan struct{}), sub: j.Subscribe(1), open: map[string]*open{}}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "redeliver_" + name, Help: help}, labels)
		m.registry.MustRegister(v)
		return v
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "redeliver_" + name, Help: help}, labels)
		m.registry.MustRegister(v)
		return v
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "redeliver_" + name, Help: help, Buckets: buckets}, []string{"function"})
		m.registry.MustRegister(v)
		return v
	}
	m.deliveries = counter("deliveries_total", "Deliveries that functions have received.", "function", "trigger")
	m.attempts = counter("attempts_total", "Attempts that have ended, by their outcome.", "function", "trigger", "status")
	m.retries = counter("retries_total", "Attempts after the first of a delivery.", "function", "trigger")
	m.exhausted = counter("retries_exhausted_total", "Deliveries whose retry policy gave up.", "function", "trigger")
	m.settled = counter("settlements_total", "Deliveries that have ended, by what became of the message.", "function", "trigger", "decision")
	m.poisoned = counter("poison_messages_total", "Messages moved to a poison queue.", "function", "queue")
	m.deadLettered = counter("dead_lettered_messages_total", "Messages and events that a service has dead-lettered.", "entity")
	m.eventAttempts = counter("eventgrid_attempts_total", "Attempts of Event Grid to deliver an event.", "subscription", "status")
	m.active = gauge("deliveries_active", "Deliveries in work, those that wait for a retry among them.", "function")
	m.circuit = gauge("circuit_state", "1 for the state of the function's circuit breaker.", "function", "state")
	m.attemptTime = histogram("attempt_duration_seconds", "Duration of an attempt by the host's clock.", attemptBuckets)
	m.deliveryTime = histogram("delivery_duration_seconds", "Duration of a delivery with all its attempts and waits, by the host's clock.", deliveryBuckets)
	m.records = counter("journal_records_total", "Records of the journal that these series count.").WithLabelValues()
	m.dropped = counter("journal_records_dropped_total", "Records that the journal let go before these series had read them.").WithLabelValues()
	m.generation = gauge("generation", "Number of the loaded app.").WithLabelValues()
	gauge("build_info", "1, with the version of the host.", "version").WithLabelValues(version).Set(1)
	if depths != nil {
		m.registry.MustRegister(depths)
	}
	m.handler = promhttp.HandlerFor(m, promhttp.HandlerOpts{})
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	go m.follow(ctx)
	return m
}

// ServeHTTP implements http.Handler.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// Gather implements prometheus.Gatherer: the series count all that has happened before.
func (m *Metrics) Gather() ([]*dto.MetricFamily, error) {
	m.catchUp()
	return m.registry.Gather()
}

// Close ends the counting.
func (m *Metrics) Close() {
	m.cancel()
	<-m.done
	m.sub.Close()
}

// breath is how long a reader leaves the journal alone after it has read all of it: so a
// record costs its writer no switch to a reader. It is short beside the time in which the
// fastest host fills its journal.
const breath = 50 * time.Millisecond

// follow keeps the series near the journal, which keeps no record for ever.
func (m *Metrics) follow(ctx context.Context) {
	defer close(m.done)
	for m.catchUp(); m.sub.Wait(ctx) == nil && pause(ctx, breath); {
		m.catchUp()
	}
}

// pause waits; it is false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// catchUp counts the records that are there.
func (m *Metrics) catchUp() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		rec, missed, ok := m.sub.TryNext()
		if !ok {
			return
		}
		if missed > 0 {
			m.dropped.Add(float64(missed))
			clear(m.open)
			m.active.Reset()
		}
		m.records.Inc()
		clean(&rec)
		m.count(&rec)
	}
}

// count adds a record to the series.
func (m *Metrics) count(r *journal.Record) {
	switch r.Kind {
	case journal.GenerationLoaded:
		m.generation.Set(float64(r.Generation))
	case journal.Received:
		if r.Function != "" {
			m.deliveries.WithLabelValues(r.Function, r.Trigger).Inc()
			m.active.WithLabelValues(r.Function).Inc()
			m.open[r.Delivery] = &open{received: r.Time}
		}
	case journal.AttemptStarted:
		if r.Attempt > 1 {
			m.retries.WithLabelValues(r.Function, r.Trigger).Inc()
		}
		if d := m.open[r.Delivery]; d != nil {
			d.started = r.Time
		}
	case journal.AttemptEnded:
		m.attempts.WithLabelValues(r.Function, r.Trigger, r.Status).Inc()
		if d := m.open[r.Delivery]; d != nil && !d.started.IsZero() {
			m.attemptTime.WithLabelValues(r.Function).Observe(r.Time.Sub(d.started).Seconds())
		}
	case journal.RetriesExhausted:
		m.exhausted.WithLabelValues(r.Function, r.Trigger).Inc()
	case journal.Settled:
		m.settle(r)
	case journal.DeadLettered:
		m.deadLettered.WithLabelValues(r.Source).Inc()
	case journal.EventAttempted:
		m.eventAttempts.WithLabelValues(r.Source, r.Status).Inc()
	case journal.CircuitOpened:
		m.circuitIs(r.Function, circuitOpen)
	case journal.CircuitHalfOpened:
		m.circuitIs(r.Function, circuitHalfOpen)
	case journal.CircuitClosed:
		m.circuitIs(r.Function, circuitClosed)
	}
}

func (m *Metrics) settle(r *journal.Record) {
	if r.Function == "" {
		return
	}
	m.settled.WithLabelValues(r.Function, r.Trigger, r.Decision).Inc()
	if r.Decision == "poisoned" {
		m.poisoned.WithLabelValues(r.Function, r.Target).Inc()
	}
	if d := m.open[r.Delivery]; d != nil {
		delete(m.open, r.Delivery)
		m.active.WithLabelValues(r.Function).Dec()
		m.deliveryTime.WithLabelValues(r.Function).Observe(r.Time.Sub(d.received).Seconds())
	}
}

// circuitIs says the state of a circuit breaker, with one series for each state.
func (m *Metrics) circuitIs(function, state string) {
	for _, s := range [...]string{circuitClosed, circuitHalfOpen, circuitOpen} {
		value := 0.0
		if s == state {
			value = 1
		}
		m.circuit.WithLabelValues(function, s).Set(value)
	}
}

package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/telemetry"
	"github.com/redeliver/redeliver/triggers"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// scrape reads the series as Prometheus does: by name and labels, histograms by their
// count and sum.
func scrape(t *testing.T, m *telemetry.Metrics) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/admin/redeliver/metrics", nil))
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("the answer is %d, %s", w.Code, w.Header())
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, f := range families {
		for _, s := range f.GetMetric() {
			key := strings.TrimPrefix(name, "redeliver_") + labels(s)
			switch f.GetType() {
			case dto.MetricType_HISTOGRAM:
				out[key+" count"], out[key+" sum"] = float64(s.GetHistogram().GetSampleCount()), s.GetHistogram().GetSampleSum()
			case dto.MetricType_COUNTER:
				out[key] = s.GetCounter().GetValue()
			default:
				out[key] = s.GetGauge().GetValue()
			}
		}
	}
	return out
}

func labels(s *dto.Metric) (text string) {
	for _, l := range s.GetLabel() {
		text += " " + l.GetName() + "=" + l.GetValue()
	}
	return text
}

// The series of a message that fails until it is poison, of one in work, of a dead letter
// and of an open circuit, as Prometheus reads them, by its conventions.
func TestMetrics(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		if m.Text() == "slow" {
			return functions.Sleep(ctx, 20*time.Second)
		}
		if m.Text() == "bad" {
			_ = functions.Sleep(ctx, 2*time.Second)
			return errors.New("payment service unavailable")
		}
		return nil
	}, functions.FixedDelay(1, 10*time.Second))
	app.ServiceBusQueue("Ship", "parcels", func(context.Context, functions.ServiceBusMessage) error { return errors.New("no") })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"host.json":          `{"version":"2.0","extensions":{"queues":{"maxDequeueCount":2}}}`,
		"Ship/function.json": `{"bindings":[{"type":"serviceBusTrigger","direction":"in","name":"m","queueName":"parcels"}],"redeliver":{"circuitBreaker":{"failures":3,"pause":"00:10:00"}}}`,
	}})
	m := telemetry.NewMetrics(h.Journal(), telemetry.DepthsOf(h.Host.Clock(), h.Services(), h.AppStorage), "1.2.3")
	defer m.Close()

	h.Send("orders", "good")
	h.AwaitSettled("ProcessOrder", triggers.Deleted)
	h.Send("orders", "bad")
	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	h.SendServiceBus("parcels", &servicebus.Message{Body: []byte("x")})
	h.AwaitKind(journal.CircuitOpened)
	h.Send("orders", "slow")
	h.Advance(5 * time.Second)

	if lint, err := testutil.GatherAndLint(m); err != nil || len(lint) > 0 {
		t.Errorf("the linter says %v, %v", lint, err)
	}
	got := scrape(t, m)
	records := float64(h.Journal().Len())
	age := got["queue_oldest_message_age_seconds entity=parcels service=servicebus"]
	if age <= 0 || age > 3600 {
		t.Errorf("the message of a closed circuit is %g s old", age)
	}
	for name := range maps.Keys(got) { // of no interest here
		if strings.HasPrefix(name, "delivery_duration") || strings.HasPrefix(name, "attempt_duration") && strings.Contains(name, "Ship") || strings.Contains(name, "entity=parcels") && !strings.Contains(name, "state=active") {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(map[string]float64{
		"build_info version=1.2.3":      1,
		"generation":                    1,
		"journal_records_total":         records,
		"journal_records_dropped_total": 0,
		"deliveries_total function=ProcessOrder trigger=queueTrigger":                    4,
		"deliveries_total function=Ship trigger=serviceBusTrigger":                       3,
		"deliveries_active function=ProcessOrder":                                        1,
		"deliveries_active function=Ship":                                                0,
		"attempts_total function=ProcessOrder status=failed trigger=queueTrigger":        4,
		"attempts_total function=ProcessOrder status=succeeded trigger=queueTrigger":     1,
		"attempts_total function=Ship status=failed trigger=serviceBusTrigger":           3,
		"retries_total function=ProcessOrder trigger=queueTrigger":                       2,
		"retries_exhausted_total function=ProcessOrder trigger=queueTrigger":             2,
		"settlements_total decision=deleted function=ProcessOrder trigger=queueTrigger":  1,
		"settlements_total decision=released function=ProcessOrder trigger=queueTrigger": 1,
		"settlements_total decision=poisoned function=ProcessOrder trigger=queueTrigger": 1,
		"settlements_total decision=abandoned function=Ship trigger=serviceBusTrigger":   3,
		"poison_messages_total function=ProcessOrder queue=orders-poison":                1,
		"attempt_duration_seconds function=ProcessOrder count":                           5,
		"attempt_duration_seconds function=ProcessOrder sum":                             8,
		"circuit_state function=Ship state=open":                                         1,
		"circuit_state function=Ship state=half_open":                                    0,
		"circuit_state function=Ship state=closed":                                       0,
		"queue_messages entity=orders service=queue state=visible":                       0,
		"queue_messages entity=orders service=queue state=invisible":                     1,
		"queue_oldest_message_age_seconds entity=orders service=queue":                   5,
		"queue_messages entity=orders-poison service=queue state=visible":                1,
		"queue_messages entity=orders-poison service=queue state=invisible":              0,
		"queue_oldest_message_age_seconds entity=orders-poison service=queue":            got["queue_oldest_message_age_seconds entity=orders-poison service=queue"],
		"queue_messages entity=parcels service=servicebus state=active":                  1,
	}, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if strings.Contains(fmt.Sprint(slices.Collect(maps.Keys(got))), "go_") {
		t.Error("the process's own series are among them")
	}
}

// Who reads too slowly counts what it has missed, and forgets what was in work.
func TestMetricsMissRecords(t *testing.T) {
	t.Parallel()
	j := journal.New(func() time.Time { return time.Unix(0, 0) }, &journal.Options{Keep: 1})
	j.Append(journal.Record{Kind: journal.Received, Function: "F", Delivery: "d1"})
	m := telemetry.NewMetrics(j, nil, "")
	defer m.Close()
	if got := scrape(t, m); got["deliveries_active function=F"] != 1 {
		t.Errorf("before: %v", got)
	}
	const n = 100_000 // faster than anybody reads
	for range n {
		j.Append(journal.Record{Kind: journal.HandlerLog})
	}
	got := scrape(t, m)
	dropped, read := got["journal_records_dropped_total"], got["journal_records_total"]
	if dropped == 0 || dropped+read != n+1 {
		t.Errorf("%v read and %v dropped of %d", read, dropped, n+1)
	}
	if _, ok := got["deliveries_active function=F"]; ok {
		t.Error("a delivery is in work whose end was missed")
	}
}

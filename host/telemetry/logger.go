//clock:outside telemetry follows the journal in real time

package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otellog "go.opentelemetry.io/otel/log"

	"github.com/redeliver/redeliver/host/journal"
)

// logger writes the lines of handlers as log records, in the trace of their attempt.
type logger struct {
	to     otellog.Logger
	flush  func(context.Context) error
	time   *times
	queued int
	most   int // below what the SDK's queue takes before it drops records
}

// severities of the levels of the journal.
var severities = map[string]otellog.Severity{ // read only
	"trace": otellog.SeverityTrace, "debug": otellog.SeverityDebug, "information": otellog.SeverityInfo,
	"warning": otellog.SeverityWarn, "error": otellog.SeverityError, "critical": otellog.SeverityFatal,
}

func (l *logger) write(ctx context.Context, r *journal.Record, spans *tracer) {
	var out otellog.Record
	out.SetTimestamp(r.Time)
	out.SetObservedTimestamp(time.Now())
	out.SetSeverity(severities[r.Level])
	out.SetSeverityText(r.Level)
	out.SetBody(attribute.StringValue(r.Message))
	list := []attribute.KeyValue{}
	text := func(name, value string) {
		if value != "" {
			list = append(list, attribute.String(name, value))
		}
	}
	text("faas.name", r.Function)
	text("faas.invocation_id", r.Invocation)
	text("redeliver.delivery", r.Delivery)
	text("redeliver.program", r.Name)
	if r.Attempt > 0 {
		list = append(list, attribute.Int("redeliver.attempt", r.Attempt))
	}
	for _, f := range r.Fields {
		list = append(list, attribute.String(f.Key, f.Value))
	}
	if l.time.virtual {
		list = append(list, virtualTime)
	}
	out.AddAttributes(list...)
	l.to.Emit(spans.context(r), out)
	if l.queued++; l.queued == l.most {
		l.queued = 0
		_ = l.flush(ctx) // what fails is counted
	}
}

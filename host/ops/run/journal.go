package run

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops"
)

// ReadJournal writes journal records as NDJSON. A line {"missed": n} stands for records
// that are no longer kept. A caller that accepts text/event-stream gets server-sent
// events: "records" with an array of records, whose id is the sequence number of the last
// one, and "missed"; the header Last-Event-ID goes on after that record. The answer's
// header X-Redeliver-Run names the run of the host: numbers of another run mean nothing.
type ReadJournal struct {
	ops.Op[ops.Stream] `route:"GET /journal" clock:"own"`

	Since  int64 `query:"since" min:"1" default:"1" fault:"since must be a sequence number from 1"` // the first record
	Follow bool  `query:"follow"`                                                                   // go on until the host ends
}

// ListLives tells the lives of messages as far as the journal has them: attempts, waits, ends.
// A caller that accepts text/event-stream gets server-sent events instead, until the host ends:
// "lives" with what has changed since the one before, whose id is the sequence number of the
// latest record, and "missed" with the number of records that were lost. A life that is told
// again replaces what was said of it, but for its deliveries, attempts, marks and logs, which
// are added to those told. The answer's header X-Redeliver-Run names the run of the host.
type ListLives struct {
	ops.Op[explain.Changes] `route:"GET /lives" clock:"own"`
}

func (in ListLives) Do(_ context.Context, e *ops.Env) (explain.Changes, error) {
	t := explain.NewTeller(0)
	for _, r := range e.Host.Journal().Records() {
		t.Add(&r)
	}
	return t.Changes(), nil
}

// Explain tells the lives of messages: each delivery and each attempt, who decided what
// followed, and what comes next. It knows what the journal has kept; 404 when that has no
// such message.
type Explain struct {
	ops.Op[explain.Told] `route:"GET /explain" clock:"own"`

	Message  string `query:"message" arg:"MESSAGE"` // identity of a message, or its beginning; of a delivery; of an invocation
	Function string `query:"function" usage:"tell only messages of this function"`
	Last     int    `query:"last" min:"1" default:"20" fault:"last must be a number of 1 or more" usage:"tell so many messages at most, the latest"`
}

func (in Explain) Do(_ context.Context, e *ops.Env) (out explain.Told, err error) {
	about := explain.Subject{Message: in.Message, Apps: map[string]*app.App{}, Report: e.Report()}
	for _, h := range e.Apps() {
		about.Apps[h.AppName()] = h.App()
	}
	if in.Function != "" {
		of, own, err := e.Function(in.Function)
		if err != nil {
			return out, err
		}
		about.Function = ops.Qualified(of, own)
	}
	out.Now = e.Host.Clock().Now()
	out.Tell(e.Host.Journal().Records(), about, in.Last)
	if in.Message != "" && len(out.Lives)+len(out.Orchestrations) == 0 {
		what := fmt.Sprintf("the journal has no message, delivery or invocation %q", in.Message)
		if in.Function != "" {
			what += fmt.Sprintf(" of function %q", in.Function)
		}
		return out, ops.Refuse(http.StatusNotFound, what, "\"redeliver explain\" without a message tells the latest ones; the journal keeps what happened since the start of the host, up to a limit")
	}
	return out, nil
}

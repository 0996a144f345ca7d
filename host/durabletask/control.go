package durabletask

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/redeliver/redeliver/bindings/durable"
)

// raise gives an instance an event. That there is no such instance is told before anything is
// wrong with the event.
func (q *request) raise(ctx context.Context, id, name string) *answer {
	i, err := q.hub.Instance(ctx, id, durable.Read{})
	switch {
	case err != nil:
		return failed(err)
	case i.Status.Finished():
		return status(http.StatusGone)
	}
	if kind, _, err := mime.ParseMediaType(q.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return refuse(http.StatusBadRequest, "Only application/json request content is supported")
	}
	data, err := parse(q.body)
	if err != nil {
		return badJSON(err)
	}
	return accepted(q.hub.RaiseEvent(ctx, id, name, data, q.by()))
}

func accepted(err error) *answer {
	if err != nil {
		return failed(err)
	}
	return status(http.StatusAccepted)
}

// command terminates, suspends or resumes an instance.
func (q *request) command(ctx context.Context, id string, c durable.Command) *answer {
	err := q.hub.Control(ctx, id, durable.Control{Command: c, Reason: q.query.Get("reason"), By: q.by()})
	var refusal *durable.Error
	if errors.As(err, &refusal) && refusal.Code == durable.CodeWrongState {
		return raised(http.StatusInternalServerError, wentWrong,
			fmt.Sprintf("Cannot %s the orchestration instance %s because instance is in the %s state.", c, id, refusal.Status), "System.InvalidOperationException")
	}
	return accepted(err)
}

// rewind rewinds a failed instance. What it refuses is a JSON string.
func (q *request) rewind(ctx context.Context, id string) *answer {
	err := q.hub.Control(ctx, id, durable.Control{Command: durable.Rewind, Reason: q.query.Get("reason"), By: q.by()})
	var refusal *durable.Error
	if errors.As(err, &refusal) {
		switch refusal.Code {
		case durable.CodeNotFound: // the dollar sign is the platform's
			return status(http.StatusNotFound).with(fmt.Sprintf("No orchestration with instance ID %q found.", "$"+id))
		case durable.CodeWrongState, durable.CodeFinished:
			return status(http.StatusPreconditionFailed).with(fmt.Sprintf("This orchestration has status %s, but only orchestrations in the \"Failed\" state can be rewound.", refusal.Status))
		}
	}
	return accepted(err)
}

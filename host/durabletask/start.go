package durabletask

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"

	"github.com/redeliver/redeliver/bindings/durable"
)

// start starts an orchestrator.
func (q *request) start(ctx context.Context) *answer {
	s := durable.Start{Name: q.parts[1], Version: q.query.Get("version"), By: q.by()}
	if len(q.parts) == 3 {
		s.ID = q.parts[2]
	}
	if len(q.body) > 0 {
		text, err := parse(q.body)
		if err != nil {
			return badJSON(err)
		}
		s.Input = &text
	}
	return q.startAs(ctx, s)
}

// startAs starts what s says, and waits for its end where the request asks for that.
func (q *request) startAs(ctx context.Context, s durable.Start) *answer {
	if text := BadID(s.ID); s.ID != "" && text != "" {
		return raised(http.StatusBadRequest, badArgument, text, "System.ArgumentException")
	}
	if q.disabled(durable.Function{Kind: durable.Orchestrator, Name: s.Name}) {
		return refuse(http.StatusBadRequest, q.unknown(durable.Function{Kind: durable.Orchestrator, Name: s.Name}))
	}
	id, err := q.hub.Start(ctx, s)
	if err != nil {
		return failed(err)
	}
	return q.started(ctx, id)
}

// started answers a start: with its end, where the request waits for that and it comes in
// time.
func (q *request) started(ctx context.Context, id string) *answer {
	timeout, limited := q.seconds("timeout")
	interval, polls := q.seconds("pollinginterval")
	if !limited || !polls {
		return q.checkStatus(id)
	}
	if timeout < interval {
		return refuse(http.StatusBadRequest, fmt.Sprintf("Total timeout %s should be bigger than retry timeout %s", q.query.Get("timeout"), q.query.Get("pollinginterval")))
	}
	i, err := q.hub.AwaitEnd(ctx, id, q.opts.Clock.Now().Add(timeout))
	switch {
	case err != nil:
		return failed(err)
	case i.Status == durable.Completed:
		return status(http.StatusOK).with(valueOf(i.Output))
	case i.Status.Finished():
		return q.told(i)
	}
	return q.checkStatus(id)
}

// restart starts the orchestration of an instance anew.
func (q *request) restart(ctx context.Context, id string) *answer {
	if !q.flag("restartwithnewinstanceid", true) {
		return q.restartUnder(ctx, id, "")
	}
	i, err := q.hub.Instance(ctx, id, durable.Read{})
	if err != nil {
		return notRestarted(id, err)
	}
	return q.startAs(ctx, durable.Start{Name: i.Name, Version: i.Version, Input: i.Input, By: "restart"})
}

// restartWithOptions is restart under an id that the caller chooses.
func (q *request) restartWithOptions(ctx context.Context, id string) *answer {
	fresh := q.query.Get("newinstanceid")
	if fresh == "" {
		return refuse(http.StatusBadRequest, "A new orchestration instance ID must be provided.")
	}
	version, chosen := q.query["version"]
	if !chosen {
		return q.restartUnder(ctx, id, fresh)
	}
	i, err := q.hub.Instance(ctx, id, durable.Read{})
	if err != nil {
		return notRestarted(id, err)
	}
	return q.startAs(ctx, durable.Start{Name: i.Name, ID: fresh, Version: version[0], Input: i.Input, By: "restart"})
}

func (q *request) restartUnder(ctx context.Context, id, fresh string) *answer {
	if text := BadID(fresh); fresh != "" && text != "" {
		return raised(http.StatusBadRequest, badArgument, text, "System.ArgumentException")
	}
	started, err := q.hub.Restart(ctx, id, fresh, q.by())
	if err != nil {
		return notRestarted(id, err)
	}
	return q.started(ctx, started)
}

// notRestarted answers a restart that is refused.
func notRestarted(id string, err error) *answer {
	var refusal *durable.Error
	if errors.As(err, &refusal) {
		switch refusal.Code {
		case durable.CodeNotFound:
			return raised(http.StatusBadRequest, "InstanceId does not match a valid orchestration instance.",
				"No instance with ID '"+id+"' was found. (Parameter 'instanceId')", "System.ArgumentException")
		case durable.CodeInUse, durable.CodeWrongState:
			return raised(http.StatusConflict, "A non-terminal instance with this instance ID already exists.", inUse(refusal.Status), "DurableTask.Core.Exceptions.OrchestrationAlreadyExistsException")
		}
	}
	return failed(err)
}

// BadID says what is wrong with the id of an instance that a caller has chosen, or "" (spec
// durable 5.1).
func BadID(id string) string {
	switch {
	case strings.HasPrefix(id, "@"):
		return "Orchestration instance ids must not start with @."
	case strings.ContainsAny(id, `/\#?`) || strings.ContainsFunc(id, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }):
		return `Orchestration instance ids must not contain /, \, #, ?, or control characters.`
	case len(utf16.Encode([]rune(id))) > durable.MaxInstanceID:
		return fmt.Sprintf("Instance ID lengths must not exceed %d characters.", durable.MaxInstanceID)
	}
	return ""
}

// disabled reports whether the app has the function and does not run it.
func (q *request) disabled(f durable.Function) bool {
	return q.opts.Functions != nil && has(q.opts.Functions().Disabled, f)
}

// missing reports whether the app does not run the function.
func (q *request) missing(f durable.Function) bool {
	return q.opts.Functions != nil && !has(q.opts.Functions().Known, f)
}

func has(list []durable.Function, f durable.Function) bool {
	for _, known := range list {
		if known.Kind == f.Kind && strings.EqualFold(known.Name, f.Name) {
			return true
		}
	}
	return false
}

// unknown is the platform's sentence about a function that does not run (spec durable 5.8).
func (q *request) unknown(f durable.Function) string {
	kind := "orchestrator"
	if f.Kind == durable.EntityFunction {
		kind = "entity"
	}
	text := fmt.Sprintf("The function '%s' doesn't exist, is disabled, or is not an %s function. Additional info: ", f.Name, kind)
	var names []string
	for _, known := range q.opts.Functions().Known {
		if known.Kind == f.Kind {
			names = append(names, "'"+known.Name+"'")
		}
	}
	if len(names) == 0 {
		return text + "No " + kind + " functions are currently registered!"
	}
	return text + "The following are the known " + kind + " functions: " + strings.Join(names, ", ") + "."
}

// Package timer is the timer trigger as the host knows it.
package timer

import (
	"context"

	"github.com/redeliver/redeliver/triggers/timer"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
)

// Kind is the timer trigger.
func Kind() kinds.Kind {
	return kinds.Kind{
		Kind: app.Kind{
			Type: "timerTrigger", Odd: app.AnyDirection, NeedsStorage: true, OfficialRetry: true,
			Endless: "a tick that always fails stops the timer",
			End:     end, Validate: validate, Warn: warnNames, Lint: lint,
		},
		Singleton: true, Scheduled: true, Connect: connect, Listen: listen, Message: message,
	}
}

func connect(f *kinds.Function) error {
	_, err := scheduleOf(f)
	return err
}

func listen(t *kinds.Turn) (triggers.Listener, error) {
	f := t.Function
	schedule, err := timer.ParseSchedule(f.Def.Trigger.String("schedule"))
	if err != nil {
		return nil, err
	}
	in, err := t.Container()
	if err != nil {
		return nil, err
	}
	location, _ := timer.Location(f.App().Settings.Lookup)
	var sure func(ctx context.Context) error
	store := scheduleIn(f, in)
	if t.Held != nil {
		store.held, sure = t.Held, t.Held.Sure
	}
	return timer.New(f.Clock, schedule, &timer.Options{
		Sure:         sure,
		Location:     location,
		Store:        store,
		RunOnStartup: kinds.IsTrue(f.Def.Trigger.Value("runOnStartup"), false) && !t.Again,
		Unmonitored:  !kinds.IsTrue(f.Def.Trigger.Value("useMonitor"), true),
	}), nil
}

func message(f *kinds.Function, input string) (triggers.Message, error) {
	schedule, err := timer.ParseSchedule(f.Def.Trigger.String("schedule"))
	if err != nil {
		return triggers.Message{}, err
	}
	var status *timer.Status
	if kinds.IsTrue(f.Def.Trigger.Value("useMonitor"), true) && !schedule.Frequent() {
		store, err := scheduleOf(f)
		if err != nil {
			return triggers.Message{}, err
		}
		if status, err = store.Status(f.Root); err != nil {
			return triggers.Message{}, err
		}
	}
	location, _ := timer.Location(f.App().Settings.Lookup)
	m := triggers.Message{Value: timer.Info(schedule, status, false), Metadata: timer.Metadata(f.Clock.Now().In(location))}
	f.AddInput(m.Metadata, input)
	return m, nil
}

func end(*app.App, *app.Function) string { return "next tick" }

// lint is L-4 and L-13.
func lint(r *app.Review) {
	text := r.Function.Trigger.String("schedule")
	if reading, odd := retrycontext.LooksOtherwise(text); odd {
		r.Trigger("L-4", "schedule", "%s means every %s; write a time span as hh:mm:ss, with days as d.hh:mm:ss", schemas.Quote(text), reading)
	}
	if schedule, err := timer.ParseSchedule(text); err == nil {
		r.LongLoop("L-13", schedule.Period(), "the longest retry loop takes {loop}, longer than the {limit} between two ticks: ticks are skipped, and one tick runs at once after the loop")
	}
}

func validate(a *app.App, f *app.Function) []*schemas.Fault {
	text := f.Trigger.String("schedule")
	if _, err := timer.ParseSchedule(text); err != nil {
		return []*schemas.Fault{{
			Path: f.Trigger.Path + ".schedule", Found: text,
			Allowed: "a cron expression of five or six fields, or a time span",
			Reason:  err.Error(), Kind: "argument",
		}}
	}
	return kinds.EarlyNames(a, f, contract)
}

// contract are the names that a tick provides.
var contract = []string{"TimerTrigger"} // read only

func warnNames(a *app.App, f *app.Function) []*schemas.Fault {
	return kinds.LateNames(a, f, contract)
}

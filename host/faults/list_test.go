package faults_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/services"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func ask(clk *clock.Virtual, l *faults.List, p services.FaultPoint) (err error) {
	clk.Do("ask", func() { err = l.Ask(clk, p) })
	return err
}

// A fault is for its service, its entity, its operation and its side of the effect, so
// often or so long as it says.
func TestAsk(t *testing.T) {
	t.Parallel()
	point := func(service, op, entity string) services.FaultPoint {
		return services.FaultPoint{Service: service, Op: op, Entity: entity}
	}
	for name, test := range map[string]struct {
		fault faults.Fault
		hits  []services.FaultPoint
		spare []services.FaultPoint
	}{
		"operation": {
			faults.Fault{Operation: "delete", Times: 2},
			[]services.FaultPoint{point("queue", "Delete", "a"), point("blob", "Delete", "c/b")},
			[]services.FaultPoint{point("queue", "Put", "a"), {Service: "queue", Op: "Delete", After: true}},
		},
		"entity": {
			faults.Fault{Service: "blob", Entity: "Pictures", Times: 2},
			[]services.FaultPoint{point("blob", "Put", "pictures/a.png"), point("blob", "Delete", "pictures")},
			[]services.FaultPoint{point("blob", "Put", "other/a.png"), point("queue", "Put", "pictures")},
		},
		"full disk": {
			faults.Fault{DiskFull: true, Times: 3},
			[]services.FaultPoint{point("queue", "Put", "a"), point("servicebus", "Complete", "a"), point("cosmos", "Upsert", "d/c")},
			[]services.FaultPoint{point("queue", "Peek", "a"), point("servicebus", "GetQueue", "a"), point("handler", "Invoke", "F"), point("eventgrid", "Deliver", "t/s")},
		},
		"every delivery of Event Grid": {
			faults.Fault{Service: "eventgrid", Operation: "*"},
			[]services.FaultPoint{point("eventgrid", "Deliver", "t/s")},
			[]services.FaultPoint{point("eventgrid", "Retry", "t/s")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := clock.NewVirtual(start, nil)
			l := &faults.List{Services: all.Table().Faults()}
			if err := l.Add(start, test.fault); err != nil {
				t.Fatal(err)
			}
			for _, p := range test.spare {
				if err := ask(clk, l, p); err != nil {
					t.Errorf("%v: %v", p, err)
				}
			}
			for _, p := range test.hits {
				if err := ask(clk, l, p); !errors.Is(err, bindings.ErrUnavailable) {
					t.Errorf("%v: %v", p, err)
				}
			}
			if err := ask(clk, l, test.hits[0]); err != nil || len(l.Active(start)) != 0 || l.Taken() != len(test.hits) {
				t.Errorf("used up: %v, %v, %d taken", err, l.Active(start), l.Taken())
			}
		})
	}
}

// A fault for a time ends by the clock, and latency passes on it.
func TestAskByTheClock(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, nil)
	l := &faults.List{Services: all.Table().Faults()}
	put := services.FaultPoint{Service: "queue", Op: "Put", Entity: "a"}
	if err := errors.Join(l.Add(start, faults.Fault{Service: "queue", For: time.Minute}), l.Add(start, faults.Fault{Operation: "Put", Latency: 5 * time.Second})); err != nil {
		t.Fatal(err)
	}
	clk.Advance(59 * time.Second)
	if err := ask(clk, l, put); err == nil {
		t.Error("the fault has ended too early")
	}
	clk.Advance(time.Second)
	done := make(chan error, 1)
	clk.Do("begin", func() {
		clock.NewGroup(clk, 0).Go("ask", func() { done <- l.Ask(clk, put) })
	})
	if clk.Run(time.Hour); clk.Now() != start.Add(65*time.Second) {
		t.Errorf("it is %v after 5s of latency", clk.Now())
	}
	if err := <-done; err != nil {
		t.Errorf("a late operation fails: %v", err)
	}
	if n := l.Clear(clk.Now()); n != 0 {
		t.Errorf("%d faults are left", n)
	}
}

// What no operation could match, or no caller could bear, is refused.
func TestAddRefuses(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]faults.Fault{
		"no operation and no service":                                  {},
		"no service \"disk\"":                                          {Service: "disk"},
		"an entity and no service":                                     {Entity: "a", Operation: "Put"},
		"leave the operation out":                                      {DiskFull: true, Operation: "Put"},
		"leave out one of after and lost":                              {Operation: "Delete", After: true, Lost: true},
		"operation Deliver of Event Grid":                              {Operation: "Put", Status: 400},
		"does not ask for an answer":                                   {Operation: "Get", Lost: true},
		`queue has no operation "Delte"; did you mean "Delete"?`:       {Service: "queue", Operation: "Delte"},
		`no service has an operation "Compleat"; did you mean "Comple`: {Operation: "Compleat"},
		`queue has no operation "Complete"; servicebus has`:            {Service: "queue", Operation: "Complete"},
		`has no operation "Frobnicate": want one of Deliver, Retry`:    {Service: "eventgrid", Operation: "Frobnicate"},
		`no service has an operation "Frobnicate": name the service`:   {Operation: "Frobnicate"},
		`cosmos has no operation "Put"; queue has`:                     {Service: "cosmos", Operation: "Put"},
		"caller does not ask for an answe":                             {Service: "handler", Lost: true},
	} {
		if err := (&faults.List{Services: all.Table().Faults()}).Add(start, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", f, err, want)
		}
	}
}

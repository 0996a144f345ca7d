package functions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/retrycontext"
)

type fieldError struct{ text string }

func (e *fieldError) Error() string { return e.text } // nil: a fault of memory

type panickingError struct{ in string }

func (e panickingError) Error() string {
	if e.in == "Error" {
		panic("no text")
	}
	return "broken"
}

func (e panickingError) Unwrap() error {
	if e.in == "Unwrap" {
		panic("no cause")
	}
	return nil
}

func (e panickingError) Is(error) bool {
	if e.in == "Is" {
		panic("no answer")
	}
	return false
}

type cycle struct{ next error }

func (e *cycle) Error() string { return "round" }
func (e *cycle) Unwrap() error { return e.next }

type cycles struct{}

func (e *cycles) Error() string   { return "rounds" }
func (e *cycles) Unwrap() []error { return []error{e, e, e} }

// Methods of a handler's errors are its own code: what they do to the attempt, they
// cannot do to its process.
func TestErrorsThatMisbehave(t *testing.T) {
	t.Parallel()
	round := &cycle{}
	round.next = round
	for _, test := range []struct {
		name     string
		err      error
		wantType string
		want     string // in the message
	}{
		{"nil of a type", (*fieldError)(nil), "*functions_test.fieldError", "nil *functions_test.fieldError"},
		{"nil of a type, wrapped", fmt.Errorf("charge: %w", &cycle{(*fieldError)(nil)}), "*fmt.wrapError", "nil *functions_test.fieldError"},
		{"nil of a type, permanent", functions.Permanent((*fieldError)(nil)), "*functions_test.fieldError", "nil *functions_test.fieldError"},
		{"nil of a type, poison", functions.Poison((*fieldError)(nil)), "*functions_test.fieldError", "nil *functions_test.fieldError"},
		{"nil settlement", (*functions.Settlement)(nil), "*functions.Settlement", "nil *functions.Settlement"},
		{"settlement without a failure", &functions.Settlement{Decision: functions.Completed}, "*functions.Settlement", "completed"},
		{"Error panics", panickingError{"Error"}, "functions_test.panickingError", "no text"},
		{"Unwrap panics", panickingError{"Unwrap"}, "functions_test.panickingError", "broken"},
		{"Is panics", panickingError{"Is"}, "functions_test.panickingError", "broken"},
		{"cycle", round, "*functions_test.cycle", "round"},
		{"cycle of many", &cycles{}, "*functions_test.cycles", "rounds"},
		{"cycle, permanent", functions.Permanent(round), "*functions_test.cycle", "round"},
	} {
		for _, how := range []string{"returned", "panicked", "failed"} {
			t.Run(test.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				app := functions.New()
				app.Handle("F", func(ctx context.Context, _ *functions.Trigger) error {
					switch how {
					case "panicked":
						panic(test.err)
					case "failed":
						functions.Fail(ctx, test.err)
						return nil
					}
					return test.err
				})
				ctx, cancel := context.WithCancel(context.Background())
				cancel() // so that the error is compared with the context's
				r := app.Call(ctx, &call.Request{Function: "F"}, &link{})
				if r.Status != call.Failed || r.Error == nil {
					t.Fatalf("response = %+v, want a failure", r)
				}
				if how != "panicked" && r.Error.Type != test.wantType || !strings.Contains(r.Error.Message, test.want) || len(r.Error.Message) > 1<<16 {
					t.Errorf("error of type %q (%d bytes): %.200q; want %q with %q", r.Error.Type, len(r.Error.Message), r.Error.Message, test.wantType, test.want)
				}
			})
		}
	}
}

func TestOutcomeOfMisbehavingErrors(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Handle("F", func(context.Context, *functions.Trigger) error {
		return functions.Poison(errors.Join(&cycles{}, (*fieldError)(nil)))
	})
	r := app.Call(context.Background(), &call.Request{Function: "F"}, &link{})
	if r.Asked.Decision != string(functions.Poisoned) || r.Error.Declared.Kind != retrycontext.KindPermanent {
		t.Errorf("response = %+v, error %+v; want a permanent failure that is poisoned", r, r.Error)
	}
}

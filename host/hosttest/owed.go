package hosttest

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/journal"
)

// A test says what is to fail before it fails. A fault that nothing has met, and a point that
// no delivery has come to, prove nothing: the test is of a run in which all went well.

// owedOutput is a fault of an output, and how many of its writes had failed before it.
type owedOutput struct {
	name   string
	before int
}

// FailOutput is [host.Host.FailOutput]; the test fails when no write meets it. -1 for times
// means all writes, and need not be met.
func (h *Host) FailOutput(name string, times int, text string) error {
	h.tb.Helper()
	if times < -1 {
		return fmt.Errorf("output %q: %d writes cannot fail: want a number of writes, -1 for all of them or 0 for none any more", name, times)
	}
	of, own := outputOf(h, name)
	name = journal.Qualified(of.name, own)
	if err := of.Host.FailOutput(own, times, text); err != nil {
		return fmt.Errorf("%w%s", err, orMeant(name, outputNames(h)))
	}
	if times > 0 {
		h.owed = append(h.owed, owedOutput{name, failedWrites(h, name)})
	}
	return nil
}

// failedWrites is how many writes of an output, "function" or "function/binding", were made to
// fail.
func failedWrites(h *Host, name string) int {
	return len(h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.FaultInjected && r.Function != "" && (strings.EqualFold(name, r.Function) || strings.EqualFold(name, r.Function+"/"+r.Name))
	}))
}

// settleUp fails the test for what it has asked for and what has not come. Of a test that has
// failed already nobody wants to know.
func (h *Host) settleUp() {
	h.tb.Helper()
	if t, ok := h.tb.(interface{ Failed() bool }); ok && t.Failed() {
		return
	}
	if k := h.killAt.Load(); k != nil {
		why := "never came"
		if k.seq.Load() != 0 {
			why = "came, and the test goes on with a host that is dead: call AwaitKilled"
		}
		h.tb.Errorf("hosttest: KillAt: the %s %s", k.what, why)
	}
	for _, o := range h.owed {
		if failedWrites(h, o.name) == o.before {
			h.tb.Errorf("hosttest: FailOutput: output %q was not written", o.name)
		}
	}
	if h.second {
		return // the faults are the first one's
	}
	for _, f := range h.faults.Unmet(h.Host.Clock().Now()) {
		if !f.Optional {
			h.tb.Errorf("hosttest: Inject: nothing has met the fault of %s: what it is for has not happened (Optional: true says that it need not)", describe(f.Fault))
		}
	}
}

// describe names what a fault is for.
func describe(f faults.Fault) string {
	operation := f.Operation
	switch {
	case f.DiskFull:
		operation = "each write"
	case operation == "" || operation == "*":
		operation = "each operation"
	}
	return strings.Join(strings.Fields(operation+" "+f.Service+" "+f.Entity), " ")
}

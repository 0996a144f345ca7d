package scenario_test

import (
	"strings"
	"testing"
)

// A function that feeds itself without a wait ends the scenario, and does not hang.
func TestEndless(t *testing.T) {
	t.Parallel()
	got := failures(t, `
functions:
  Loop:
    trigger: {type: serviceBusTrigger, queueName: loop}
    bindings: [{type: serviceBus, direction: out, name: again, queueName: loop}]
    handler: {outputs: {again: x}}
when: [{send: {serviceBus: loop, body: x}}]
then: {invariants: true}
`)
	if !strings.Contains(got, "when[0]: ") || !strings.Contains(got, "time has not moved") {
		t.Errorf("got %s", got)
	}
}

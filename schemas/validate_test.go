package schemas_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redeliver/redeliver/schemas"
)

// check validates d and compares the faults, each with its kind in braces.
func check(t *testing.T, d *schemas.Document, name schemas.Name, want ...string) {
	t.Helper()
	if diff := cmp.Diff(texts(d.Validate(name)), want); diff != "" {
		t.Errorf("Validate(%s) of %s (-got +want)\n%s", name, d.File(), diff)
	}
}

const switches = `autoCreateEntities, autoForwardFailure, eventGrid, eventGridJitterPercent, eventGridProbation, eventGridSchedule, eventHubs, ignore, inputs, maxForwardHops, retryCounting, retryTriggers, serviceBus, strictSessionSend, wakeUp, workerCrash`

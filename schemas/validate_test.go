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

const switches = `autoCreateEntities, autoForwardFailure, durableEvents, durableReplayCheck, durableStuck, eventGrid, eventGridJitterPercent, eventGridProbation, eventGridSchedule, eventHubs, ignore, inputs, maxForwardHops, retryCounting, retryTriggers, serviceBus, strictSessionSend, tablePages, tableRowKey, wakeUp, workerCrash`

// TestEmptyNames: a fault below an empty name stands there, and not at the object around it.
func TestEmptyNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       schemas.Name
		text, want string
	}{
		{schemas.LocalSettings, `{"Values":{"":{}}}`, `a.json:1:15: Values[""]: found {}: cannot be read as text or null; allowed: text or null`},
		{schemas.LocalSettings, `{"ConnectionStrings":{"":{"ConnectionString":[]}}}`, `a.json:1:46: ConnectionStrings[""].ConnectionString: found []: cannot be read as text; allowed: text`},
		{schemas.LocalSettings, `{"ConnectionStrings":{"":{}}}`, `a.json:1:26: ConnectionStrings[""].ConnectionString: is required; allowed: text`},
		{schemas.Scenario, `{"functions":{"":{"trigger":[]}},"then":{}}`, `a.json:1:29: functions[""].trigger: found []: cannot be read as an object; allowed: an object {json}`},
		{schemas.Scenario, `{"settings":{"":[]},"then":{}}`, `a.json:1:17: settings[""]: found []: cannot be read as text; allowed: text {json}`},
		{schemas.Scenario, `{"":1,"then":{}}`, `a.json:1:5: [""]: found "": unknown name; allowed: $schema, app, apps, entities, functions, host, name, ownWorker, ports, seed, settings, skip, start, then, when {argument-out-of-range}`},
		{schemas.HostJSON, `{"version":"2.0","logging":{"logLevel":{"":"x"}}}`, `a.json:1:44: logging.logLevel[""]: found "x": not one of the allowed values; allowed: "Trace", "Debug", "Information", "Warning", "Error", "Critical" or "None" {invalid-operation}`},
	} {
		check(t, parse(t, "a.json", c.text), c.name, c.want)
	}
}

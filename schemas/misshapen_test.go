package schemas_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redeliver/redeliver/schemas"
)

// TestMisshapen: what configuration does not read, the platform does not refuse. Run on
// the platform's host: it starts, and has the defaults of these keys.
func TestMisshapen(t *testing.T) {
	t.Parallel()
	const unread = ": the value is not read, and the key counts as not set; allowed: "
	for name, c := range map[string]struct {
		members string
		want    []string
	}{
		"section from text":     {`"extensions":{"queues":"x"}`, []string{`host.json:2:24: extensions.queues: found "x"` + unread + `an object`}},
		"section from a list":   {`"extensions":["x"]`, []string{`host.json:2:14: extensions: found a list` + unread + `an object`}},
		"list from text":        {`"functions":"x"`, []string{`host.json:2:13: functions: found "x"` + unread + `a list`}},
		"number from an object": {`"extensions":{"queues":{"batchSize":{"a":1}}}`, []string{`host.json:2:37: extensions.queues.batchSize: found an object` + unread + `a single value`}},
		"span from a list":      {`"extensions":{"queues":{"visibilityTimeout":[1]}}`, []string{`host.json:2:45: extensions.queues.visibilityTimeout: found a list` + unread + `a single value`}},
		"a level from a list":   {`"logging":{"logLevel":{"default":["x"]}}`, []string{`host.json:2:34: logging.logLevel.default: found a list` + unread + `a single value`}},
		"list from an object":   {`"functions":{"b":"B","10":"Y","9":"X","a":"A"}`, nil},
		"mode of telemetry":     {`"telemetryMode":"none"`, []string{`host.json:2:17: telemetryMode: found "none"` + unread + `"ApplicationInsights" or "OpenTelemetry"`}},
		"console":               {`"logging":{"console":{"isEnabled":"x"}}`, []string{`host.json:2:35: logging.console.isEnabled: found "x"` + unread + `true or false`}},
		"health monitor":        {`"healthMonitor":{"healthCheckInterval":"x"}`, []string{`host.json:2:40: healthMonitor.healthCheckInterval: found "x"` + unread + `a time span such as 00:00:30`}},
		"null":                  {`"extensions":{"queues":null}`, nil},
		"ours has a fault":      {`"redeliver":{"eventHubs":"x"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := parse(t, "host.json", host(c.members))
			if diff := cmp.Diff(texts(d.Misshapen(schemas.HostJSON)), c.want); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
			if faults := d.Validate(schemas.HostJSON); len(faults) > 0 != (name == "ours has a fault") {
				t.Errorf("faults %v", texts(faults))
			}
		})
	}
}

// TestListFromObject: a list takes the values of an object in the order of configuration.
func TestListFromObject(t *testing.T) {
	t.Parallel()
	d := parse(t, "host.json", `{"functions":{"b":"B","10":"Y","9":"X","a":"A"}}`)
	if diff := cmp.Diff(d.Canonical(schemas.HostJSON)["functions"], []any{"X", "Y", "A", "B"}); diff != "" {
		t.Errorf("(-got +want)\n%s", diff)
	}
}

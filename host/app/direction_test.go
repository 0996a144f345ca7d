package app_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// TestDirections: every form of the platform's enum, for the types that take it, and what
// becomes of the others. Observed: the platform's host 4.1037.
func TestDirections(t *testing.T) {
	t.Parallel()
	const queueTrigger = `{"type":"queueTrigger","direction":"in","name":"m","queueName":"abc"}`
	const httpTrigger = `{"type":"httpTrigger","direction":"in","name":"req"}`
	for _, tt := range []struct{ binding, other, fault string }{
		{`{"type":"httpTrigger","name":"x","direction":0}`, "", ""},
		{`{"type":"httpTrigger","name":"x","direction":"0"}`, "", ""},
		{`{"type":"httpTrigger","name":"x","direction":" In "}`, "", ""},
		{`{"type":"httpTrigger","name":"x","direction":"in,in"}`, "", ""},
		{`{"type":"httpTrigger","name":"x","direction":"inout"}`, "", "no HTTP trigger of this direction"},
		{`{"type":"httpTrigger","name":"x","direction":null}`, "", "not a valid binding direction"},
		{`{"type":"http","name":"x","direction":1}`, httpTrigger, ""},
		{`{"type":"http","name":"x","direction":"in,out"}`, httpTrigger, ""},
		{`{"type":"http","name":"x","direction":5}`, httpTrigger, "not a valid binding direction"},
		{`{"type":"timerTrigger","name":"x","schedule":"0 0 0 * * *","direction":0}`, "", ""},
		{`{"type":"blobTrigger","name":"x","path":"abc/{n}","direction":"0"}`, "", ""},
		{`{"type":"queueTrigger","name":"x","queueName":"abc","direction":0}`, "", "not a valid binding direction"},
		{`{"type":"blob","name":"x","path":"abc/d","direction":1}`, queueTrigger, "not a valid binding direction"},
		{`{"type":"queue","name":"x","queueName":"abc","direction":1}`, queueTrigger, app.FailsDeliveries},
		{`{"type":"queue","name":"x","queueName":"abc","direction":"5"}`, queueTrigger, app.FailsDeliveries},
		{`{"type":"queue","name":"x","queueName":"abc","direction":"in"}`, queueTrigger, app.FailsDeliveries},
	} {
		t.Run(tt.binding, func(t *testing.T) {
			t.Parallel()
			list := tt.binding
			if tt.other != "" {
				list += "," + tt.other
			}
			a := load(t, map[string]string{"host.json": `{"version":"2.0"}`, "F/function.json": `{"bindings":[` + list + `]}`},
				&app.Options{Env: map[string]string{"FUNCTIONS_WORKER_RUNTIME": "custom", "AzureWebJobsStorage": "UseDevelopmentStorage=true"}})
			var said []string
			for _, fault := range a.Functions[0].Faults {
				said = append(said, fault.Reason)
			}
			if text := strings.Join(said, "; "); (text == "") != (tt.fault == "") || !strings.Contains(text, tt.fault) {
				t.Errorf("the faults are %q, want %q", text, tt.fault)
			}
		})
	}
}

package app_test

import (
	"fmt"
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// TestEnums: words of an enum by number, as text and several together; booleans by number;
// methods that are no text. Observed: the platform's host 4.1037, which serves all of them
// (the key that a request needs, the methods that reach the function).
func TestEnums(t *testing.T) {
	t.Parallel()
	level := func(f *app.Function) string { return f.Trigger.String("authLevel") }
	for _, tt := range []struct {
		binding string
		of      func(*app.Function) string
		want    string
	}{
		{`"type":"httpTrigger","authLevel":0`, level, "anonymous"},
		{`"type":"httpTrigger","authLevel":"0"`, level, "anonymous"},
		{`"type":"httpTrigger","authLevel":2`, level, "function"},
		{`"type":"httpTrigger","authLevel":"4"`, level, "admin"},
		{`"type":"httpTrigger","authLevel":7`, level, "admin"}, // the master key alone
		{`"type":"httpTrigger","authLevel":-1`, level, "admin"},
		{`"type":"httpTrigger","authLevel":"anonymous,admin"`, level, "admin"},
		{`"type":"httpTrigger","authLevel":"Anonymous "`, level, "anonymous"},
		{`"type":"httpTrigger","authLevel":""`, level, ""}, // the default
		{`"type":"httpTrigger","methods":[null,"get",5,true]`, func(f *app.Function) string { return fmt.Sprint(app.RouteOf(&app.App{}, f).Methods) }, "[get 5 true]"},
		{`"type":"httpTrigger","methods":[null]`, func(f *app.Function) string { return fmt.Sprint(app.RouteOf(&app.App{}, f).Methods) }, "[]"},
		{`"type":"queueTrigger","queueName":"abc","dataType":2`, func(f *app.Function) string { return f.Trigger.DataType }, "binary"},
		{`"type":"queueTrigger","queueName":"abc","dataType":5`, func(f *app.Function) string { return f.Trigger.DataType }, "undefined"},
		{`"type":"queueTrigger","queueName":"abc","cardinality":"1"`, func(f *app.Function) string { return f.Trigger.Cardinality }, "many"},
		{`"type":"queueTrigger","queueName":"abc","connection":" "`, func(f *app.Function) string { return f.Trigger.Connection }, ""},
		{`"type":"blobTrigger","path":"abc/{n}","source":1`, func(f *app.Function) string { return f.Trigger.String("source") }, "EventGrid"},
		{`"type":"blobTrigger","path":"abc/{n}","source":true`, func(f *app.Function) string { return f.Trigger.String("source") }, "EventGrid"},
		{`"type":"blobTrigger","path":"abc/{n}","source":1.5`, func(f *app.Function) string { return f.Trigger.String("source") }, "LogsAndContainerScan"},
		{`"type":"httpTrigger","route":"%Set%/100%"`, func(f *app.Function) string { return app.RouteOf(&app.App{}, f).Template }, "%Set%/100%"},
		{`"type":"timerTrigger","schedule":"* * * * * *","runOnStartup":1.5`, func(f *app.Function) string { return fmt.Sprint(f.Trigger.Value("runOnStartup")) }, "true"},
		{`"type":"timerTrigger","schedule":"* * * * * *","useMonitor":0`, func(f *app.Function) string { return fmt.Sprint(f.Trigger.Value("useMonitor")) }, "false"},
	} {
		t.Run(tt.binding, func(t *testing.T) {
			t.Parallel()
			a := load(t, map[string]string{"host.json": `{"version":"2.0"}`, "F/function.json": `{"bindings":[{"name":"in","direction":"in",` + tt.binding + `}],"disabled":[],"retry":""}`},
				&app.Options{Env: map[string]string{"FUNCTIONS_WORKER_RUNTIME": "custom", "AzureWebJobsStorage": "UseDevelopmentStorage=true"}})
			f := a.Functions[0]
			for _, fault := range f.Faults {
				t.Errorf("a fault: %v", fault)
			}
			if got := tt.of(f); got != tt.want {
				t.Errorf("it is %q, want %q", got, tt.want)
			}
		})
	}
}

package app_test

import "testing"

// spec workers-dotnet-java 1.8 and 5.1, rows 15, 18 and 32.
func TestDefersTrigger(t *testing.T) {
	t.Parallel()
	const on = `, "properties": {"supportsDeferredBinding": true}`
	for _, tt := range []struct {
		name, trigger, others string
		want                  bool
	}{
		{"true", on, "", true},
		{"text", `, "properties": {"supportsDeferredBinding": "True"}`, "", true},
		{"case of the name", `, "properties": {"SupportsDeferredBinding": "true"}`, "", true},
		{"text false", `, "properties": {"supportsDeferredBinding": "false"}`, "", false},
		{"absent", ``, "", false},
		{"null", `, "properties": null`, "", false},
		{"plain output", on, `, {"type": "queue", "direction": "out", "name": "o", "queueName": "done"}`, true},
		{"expression", on, `, {"type": "queue", "direction": "out", "name": "o", "queueName": "done-{id}"}`, false},
		{"expression of the second", on, `, {"type": "queue", "direction": "out", "name": "o", "queueName": "done"}, {"type": "queue", "direction": "out", "name": "p", "queueName": "{id}"}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, map[string]string{"F/function.json": `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "q", "queueName": "orders"` + tt.trigger + `}` + tt.others + `]}`}, nil)
			if got := a.Functions[0].DefersTrigger(); got != tt.want {
				t.Errorf("got %t, faults %v", got, a.Functions[0].Faults)
			}
		})
	}
}

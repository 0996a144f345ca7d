package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/kinds/served"

	"github.com/redeliver/redeliver/host/app"
)

// The check of a trigger's names needs no host: the binding or the connection string
// names the hub, and the emulator's names have a form.
func TestEventHubTriggerFaults(t *testing.T) {
	t.Parallel()
	for properties, want := range map[string]string{
		`"eventHubName":"orders","consumerGroup":"audit"`:                           "",
		`"eventHubName":"","connection":"OneHub"`:                                   "",
		`"eventHubName":"or ders","connection":"OneHub"`:                            "", // the connection string's name counts
		`"eventHubName":"or ders","connection":"Cloud"`:                             "", // the service says it
		`"eventHubName":""`:                                                         `bindings[0].eventHubName: is empty; allowed: the name of a hub, here or as EntityPath of the connection string`,
		`"eventHubName":"or ders"`:                                                  `bindings[0].eventHubName: found "or ders": event hub name "or ders": want up to 256 letters`,
		`"eventHubName":"%NAME%"`:                                                   `bindings[0].eventHubName: found "a/b": event hub name "a/b": want`,
		`"eventHubName":"{name}"`:                                                   `bindings[0].eventHubName: found "{name}": event hub name "{name}": want`,
		`"EventHubName":"orders","ConsumerGroup":"%NAME%"`:                          `bindings[0].ConsumerGroup: found "a/b": consumer group name "a/b": want up to 50 letters`,
		`"eventHubName":"` + strings.Repeat("h", 257) + `"`:                         `bindings[0].eventHubName: found "hhhh`,
		`"eventHubName":"orders","consumerGroup":"$Default"`:                        "",
		`"eventHubName":"orders","consumerGroup":""`:                                "",
		`"eventHubName":"orders","cardinality":"Several"`:                           `bindings[0].cardinality: found "Several": not one of the allowed values; allowed: "one" or "many"`,
		`"eventHubName":"orders","cardinality":"MANY"`:                              "",
		`"eventHubName":"orders","dataType":"BINARY"`:                               "",
		`"eventHubName":"orders","connection":"Nowhere"`:                            `bindings[0].connection: found "Nowhere": connection string 'AzureWebJobsNowhere' does not exist`,
		`"eventHubName":"` + strings.Repeat("h", 256) + `"`:                         "",
		`"eventHubName":"orders","consumerGroup":"` + strings.Repeat("g", 51) + `"`: `bindings[0].consumerGroup: found "gggg`,
	} {
		t.Run(properties, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{
				"host.json":          `{"version":"2.0"}`,
				"Read/function.json": `{"scriptFile":"run.sh","bindings":[{"type":"eventHubTrigger","direction":"in","name":"e",` + properties + `}]}`,
				"Read/run.sh":        "",
			} {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			const emulator = "Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=s;UseDevelopmentEmulator=true"
			a, err := app.Load(dir, &app.Options{InProcess: true, Kinds: served.Facts(), Env: map[string]string{
				"AzureWebJobsStorage": "UseDevelopmentStorage=true", "NAME": "a/b",
				"EventHub": emulator, "OneHub": emulator + ";EntityPath=orders",
				"Cloud": "Endpoint=sb://contoso.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=s",
			}})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, fault := range a.Function("Read").Faults {
				f := *fault
				if strings.Contains(want, "does not exist") && !strings.Contains(f.Hint, "UseDevelopmentEmulator=true") {
					t.Errorf("hint %q, want the text that means the embedded namespace", f.Hint)
				}
				f.File, f.Line, f.Column, f.Hint = "", 0, 0, ""
				got += strings.TrimPrefix(f.Error(), ": ")
			}
			if !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("faults\n%s, want\n%s", got, want)
			}
		})
	}
}

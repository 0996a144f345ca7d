package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops/all"
)

// freeFlags take values of the user's own: numbers, spans of time, texts and names that
// do not exist yet. A new flag is in this list or in flagValues.
const freeFlags = `
	--action --address --admin-address --allow-host --at --auto-delete-on-idle --connection --consumer-group --content-type --correlation-id --delay --duplicate-window
	--error --event --event-type --filter --for --from --hub --id --before --if-match --key --language-worker --last --latency --lock-duration --log-file --max
	--max-attempts --max-delivery-count --max-message-size --max-size --message --nth --on --parallel --parent --partition --partition-key
	--new-id --partitions --port --prefix --property --ranges --repeat --reply-to --retention --row-key --run --seed --select --sequence --session --since
	--subject --subject-begins-with --subject-ends-with --times --to --ttl --user-metadata
`

// The shell knows what a flag may have, or that it is the user's own.
func TestFlagsAreCompleted(t *testing.T) {
	t.Parallel()
	values := flagValues(all.Table())
	isFree := map[string]bool{}
	for name := range strings.FieldsSeq(freeFlags) {
		isFree[name] = true
	}
	used := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, here := values[cmd.CommandPath()+" --"+f.Name]
			_, known := values[f.Name]
			if f.NoOptDefVal != "" || cmd.Name() == "completion" || cmd.HasParent() && cmd.Parent().Name() == "completion" {
				return
			}
			used[f.Name] = true
			if !here && !known && !isFree["--"+f.Name] {
				t.Errorf("%s --%s: nobody says which values it may have", cmd.CommandPath(), f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	root := newRoot(cli.Streams{Out: &strings.Builder{}, Err: &strings.Builder{}}, all.Table())
	walk(root)
	for name := range isFree {
		if !used[strings.TrimPrefix(name, "--")] {
			t.Errorf("%s is the flag of no command", name)
		}
	}
	for name := range values {
		command, flag, ok := strings.Cut(name, " --")
		if !ok {
			flag = name
		}
		if !used[flag] {
			t.Errorf("--%s is the flag of no command", flag)
		}
		if ok {
			if cmd, _, err := root.Find(strings.Fields(command)[1:]); err != nil || cmd.CommandPath() != command || cmd.Flags().Lookup(flag) == nil {
				t.Errorf("%q is the flag of no command", name)
			}
		}
	}
}

func TestCompletions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"host.json": `{"version": "2.0"}`, "Ship/function.json": `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "m", "queueName": "parcels"}]}`,
	} {
		if err := os.MkdirAll(dir+"/Ship", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ line, want string }{
		{"start --clock", "real debug auto manual :4"},
		{"start --output", "pretty plain json :4"},
		{"ls --output", "text json :4"},
		{"start --ports", "any :4"},
		{"start --worker", "shim official :0"},
		{"start --blob-port", "0 off :4"},
		{"start " + dir + " --functions", "Ship :4"},
		{"start --port", ":4"},
		{"start --data", ":16"},
		{"start --tls-cert", ":0"},
		{"init --lang", "custom dotnet go java node python typescript :4"},
		{"new Ship --trigger", "http timer queue blob servicebus-queue servicebus-topic eventgrid eventhub cosmos durable :4"},
		{"test --seed", "random :4"},
		{"send queue orders --ttl", "never :4"},
		{"fail operation --service", "queue servicebus eventgrid eventhubs cosmos blob table handler :4"},
		{"fail operation --status", ":4"},
		{"fail host Ship", "afterReceive beforeHandler afterHandler betweenAttempts beforeSettle afterCheckpoint afterSettle :4"},
		{"create servicebus orders --status", "Active Disabled SendDisabled ReceiveDisabled :4"},
		{"create eventgrid shop --schema", "eventgrid cloudevents :4"},
		{"schema", "scenario host function settings worker journal :4"},
	} {
		var out strings.Builder
		root := newRoot(cli.Streams{Out: &out, Err: &strings.Builder{}}, all.Table())
		root.SetArgs(append(append([]string{"__complete"}, strings.Fields(row.line)...), ""))
		if err := root.Execute(); err != nil {
			t.Errorf("%s: %v", row.line, err)
			continue
		}
		if diff := cmp.Diff(row.want, strings.Join(strings.Fields(out.String()), " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.line, diff)
		}
	}
}

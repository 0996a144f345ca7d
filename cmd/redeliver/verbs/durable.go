package verbs

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops/durable"
)

// StartOrchestration starts an orchestrator. It is below "start".
var StartOrchestration = Verb[durable.StartOrchestration, durable.OrchestrationStarted]{ // read only
	Use: "orchestration NAME [JSON|-]", Short: "Start an orchestrator of the running host",
	Long: `Start orchestration starts an instance of an orchestrator of the running host,
as a client of Durable Functions does, and prints its id. JSON is its input; "-"
means the standard input. "explain ID" tells what became of it.`,
	Example: `  redeliver start orchestration Order '{"amount": 12}'
  redeliver start orchestration Order '{"amount": 12}' --id order-7`,
	Only: []string{"ID"},
	Text: func(_ *durable.StartOrchestration, out *durable.OrchestrationStarted) string {
		return cli.Textf("%s\n", out.ID)
	},
}

// RaiseEvent gives an orchestration an event.
var RaiseEvent = Verb[durable.RaiseEvent, durable.EventRaised]{ // read only
	Use: "event ID NAME [JSON|-]", Short: "Give an orchestration an external event",
	Long: `Send event gives the instance ID of an orchestrator the external event NAME.
JSON is its data, null unless it is given; "-" means the standard input. The
event waits for an orchestrator that does not wait for it yet. Names of events
compare with their case in the packages of languages.`,
	Example: `  redeliver send event order-7 approved true
  redeliver send event order-7 paid '{"by": "card"}'`,
	Only: []string{}, Names: NamesOf(durable.Service),
	Text: func(_ *durable.RaiseEvent, out *durable.EventRaised) string {
		return cli.Textf("event %q went to %s\n", out.Event, out.ID)
	},
}

// controls are the commands that an instance can be given.
var controls = []struct{ command, short, long string }{ // read only
	{"terminate", "End an orchestration now", `Terminate ends the instance ID of an orchestrator of the running host with its
next turn; REASON becomes its output. What its activities do goes on, and nobody
hears of it. Its children go on too.`},
	{"suspend", "Hold an orchestration until it is resumed", `Suspend holds the instance ID of an orchestrator of the running host: what
happens meanwhile is kept until "resume". REASON is its output until then.`},
	{"resume", "Let a suspended orchestration go on", `Resume lets the suspended instance ID of an orchestrator of the running host go
on, with all that has happened meanwhile.`},
	{"rewind", "Repeat what has failed in a failed orchestration", `Rewind brings the failed instance ID of an orchestrator of the running host back
to before its failures: failed activities run again under their numbers, failed
children are rewound first, and what has succeeded stays.`},
}

// controlCommands are terminate, suspend, resume and rewind.
func controlCommands(std cli.Streams) (list []*cobra.Command) {
	for _, c := range controls {
		list = append(list, Verb[durable.ControlOrchestration, durable.Controlled]{
			In: durable.ControlOrchestration{Command: c.command}, Use: c.command + " ID [REASON]", Short: c.short, Long: c.long,
			Example: "  redeliver " + c.command + " order-7\n  redeliver " + c.command + " order-7 \"asked by phone\"",
			Only:    []string{}, Names: NamesOf(durable.Service),
			Text: func(_ *durable.ControlOrchestration, out *durable.Controlled) string {
				return cli.Textf("%s: %s is under way\n", out.ID, out.Command)
			},
		}.Command(std))
	}
	return list
}

// RestartOrchestration starts an orchestration anew.
var RestartOrchestration = Verb[durable.RestartOrchestration, durable.OrchestrationStarted]{ // read only
	Use: "restart ID", Short: "Start an orchestration anew with its input",
	Long: `Restart starts the orchestration of the instance ID of the running host anew
with the input that it had. Under the same id its history is replaced, and it
has to be finished; --new-id makes another instance beside it.`,
	Example: `  redeliver restart order-7
  redeliver restart order-7 --new-id order-8`,
	Only: []string{"NewID"}, Names: NamesOf(durable.Service),
	Text: func(_ *durable.RestartOrchestration, out *durable.OrchestrationStarted) string {
		return cli.Textf("started %s anew\n", out.ID)
	},
}

// PurgeOrchestrations removes instances.
var PurgeOrchestrations = Verb[durable.PurgeOrchestrations, durable.OrchestrationsPurged]{ // read only
	Use: "orchestrations", Short: "Remove orchestrations with their histories",
	Long: `Purge removes the finished instance that --id names from the task hub of the
running host, or those that --before and --status choose, with their histories.
Without --status the latter removes instances that still run too, as on the
platform.`,
	Example: `  redeliver purge orchestrations --id order-7
  redeliver purge orchestrations --before 2030-01-31T00:00:00Z --status Completed`,
	Only: []string{"ID", "Before", "Status"},
	Text: func(_ *durable.PurgeOrchestrations, out *durable.OrchestrationsPurged) string {
		return cli.Textf("removed %s\n", cli.Plural(out.Removed, "orchestration"))
	},
}

// SignalEntity sends an entity an operation.
var SignalEntity = Verb[durable.SignalEntity, durable.Signalled]{ // read only
	Use: "signal @NAME@KEY OPERATION [JSON|-]", Short: "Send a durable entity an operation",
	Long: `Signal sends the entity @NAME@KEY of the running host an operation that nobody
waits for. JSON is its input; "-" means the standard input. The entity is made
by its first operation.`,
	Example: `  redeliver signal @counter@k1 add 5
  redeliver signal @counter@k1 reset`,
	Only: []string{}, Names: NamesOf(durable.EntityService),
	Text: func(_ *durable.SignalEntity, out *durable.Signalled) string {
		return cli.Textf("%s went to %s\n", out.Operation, out.Entity)
	},
}

// ShowOrchestration shows an instance.
var ShowOrchestration = Verb[durable.ShowOrchestration, durable.OrchestrationShown]{ // read only
	Use: "show ID", Short: "Show an orchestration: status, what it waits for, history",
	Long: `Show shows the instance ID of an orchestrator of the running host: how it
stands, what it waits for, what it has met that goes wrong on the platform too,
and each number that its orchestrator has given, with what became of it. --json
has the history as workers are sent it. "explain ID" tells the same as a story.`,
	Example: `  redeliver show order-7
  redeliver show order-7 --json`,
	Only: []string{}, Names: NamesOf(durable.Service), Text: orchestration,
}

func orchestration(_ *durable.ShowOrchestration, o *durable.OrchestrationShown) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			cli.Writef(&b, "%-16s %s\n", name, cli.Block(text, strings.Repeat(" ", 17)))
		}
	}
	line("id", o.ID)
	line("orchestrator", o.Name)
	line("status", o.Status)
	line("parent", o.Parent)
	line("created", o.Created.UTC().Format(time.RFC3339)+", "+o.Age+" ago")
	line("input", o.Input)
	line("custom status", o.CustomStatus)
	line("output", o.Output)
	line("waits for", strings.Join(o.Waits, ", "))
	for _, f := range o.Found {
		line("! "+f.Name, f.Message)
	}
	if len(o.Steps) == 0 {
		return b.String()
	}
	cli.Writef(&b, "\n%-6s %-10s %-20s %-20s %-20s %s\n", "NUMBER", "WHAT", "NAME", "SCHEDULED", "ENDED", "RESULT")
	for _, s := range o.Steps {
		ended, result := "-", cmp.Or(s.Error, s.Result)
		switch {
		case s.Ended != nil:
			ended = clockTime(*s.Ended)
		case s.Due != nil:
			result = "due " + clockTime(*s.Due)
		}
		if s.Failed {
			result = "failed: " + result
		}
		cli.Writef(&b, "#%-5d %-10s %-20s %-20s %-20s %s\n", s.Number, s.What, cmp.Or(s.Name, "-"), clockTime(s.Scheduled), ended, firstLine(result))
	}
	return b.String()
}

func clockTime(t time.Time) string { return t.UTC().Format(time.DateTime) }

// firstLine is the beginning of a text, on one line.
func firstLine(text string) string {
	const most = 80
	text, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(text); len(runes) > most {
		text, more = string(runes[:most]), true
	}
	if more {
		return fmt.Sprintf("%s…", text)
	}
	return text
}

package verbs

import (
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops/run"
)

// Explain tells the lives of messages.
var Explain = Verb[run.Explain, explain.Told]{ // read only
	Use: "explain [MESSAGE]", Short: "Tell the life of a message: deliveries, attempts, who decided what",
	Long: `Explain tells what has happened to MESSAGE in the running host, across the
layers of retry: each delivery and each attempt, which layer decided what
followed (the handler, the retry policy, the trigger, the service), the wait and
its formula, why it ended, and what comes next and when.

MESSAGE is the identity of a message as "redeliver peek" shows it, or its
beginning; that of a poison message means the message that it is a copy of. The
name of a delivery (d7) and the identity of an invocation do as well. The id of
an orchestration, or of a durable entity, tells its activities, timers and
events. Without MESSAGE the latest messages are told. With --journal the
messages are those of a journal that was kept, and no host need run.`,
	Example: `  redeliver explain 1f0c
  redeliver explain --function ProcessOrder --last 1
  redeliver explain d7 --json
  redeliver explain --journal run.ndjson`,
	Text: explained,
}

func explained(_ *run.Explain, out *explain.Told) string {
	var t strings.Builder
	if out.More > 0 {
		cli.Writef(&t, "... %d messages before these: --last shows more\n\n", out.More)
	}
	for i, o := range out.Orchestrations {
		if i > 0 {
			t.WriteByte('\n')
		}
		t.WriteString(cli.PrintableLines(o.Text()))
	}
	for i, l := range out.Lives {
		if i+len(out.Orchestrations) > 0 {
			t.WriteByte('\n')
		}
		t.WriteString(cli.PrintableLines(l.Text()))
	}
	if len(out.Lives)+len(out.Orchestrations) == 0 {
		t.WriteString("nothing has happened yet: \"redeliver send\" gives a function something to do\n")
	}
	return t.String()
}

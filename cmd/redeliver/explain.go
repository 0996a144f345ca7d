package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops/run"
)

func newExplain(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var op run.Explain
	cmd := r.Shows(&cobra.Command{
		Use:   "explain [MESSAGE]",
		Short: "Tell the life of a message: deliveries, attempts, who decided what",
		Long: `Explain tells what has happened to MESSAGE in the running host, across the
layers of retry: each delivery and each attempt, which layer decided what
followed (the handler, the retry policy, the trigger, the service), the wait and
its formula, why it ended, and what comes next and when.

MESSAGE is the identity of a message as "redeliver peek" shows it, or its
beginning; that of a poison message means the message that it is a copy of. The
name of a delivery (d7) and the identity of an invocation do as well. Without
MESSAGE the latest messages are told.`,
		Example: `  redeliver explain 1f0c
  redeliver explain --function ProcessOrder --last 1
  redeliver explain d7 --json`,
		Args: cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				op.Message = args[0]
			}
			return remote.Tell(cmd, r, op, explainedText)
		},
	})
	cmd.Flags().StringVar(&op.Function, "function", "", "tell only messages of this function")
	cmd.Flags().IntVar(&op.Last, "last", 20, "tell so many messages at most, the latest")
	return cmd
}

func explainedText(out *explain.Told) string {
	var t strings.Builder
	if out.More > 0 {
		cli.Writef(&t, "... %d messages before these: --last shows more\n\n", out.More)
	}
	for i, l := range out.Lives {
		if i > 0 {
			t.WriteByte('\n')
		}
		t.WriteString(cli.PrintableLines(l.Text()))
	}
	if len(out.Lives) == 0 {
		t.WriteString("nothing has happened yet: \"redeliver send\" gives a function something to do\n")
	}
	return t.String()
}

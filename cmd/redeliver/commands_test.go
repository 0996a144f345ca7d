package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops/all"
)

var update = flag.Bool("update", false, "write the end of docs/commands.md anew")

// The end of docs/commands.md is made from the commands: what "redeliver help" says of each.
func TestCommandReference(t *testing.T) {
	t.Parallel()
	const file, heading = "../../docs/commands.md", "\n## Every command\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	overview, got, _ := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), heading)
	want := reference(newRoot(cli.Streams{}, all.Table()))
	if *update {
		if err := os.WriteFile(file, []byte(overview+heading+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not what the commands say (go test ./cmd/redeliver -run TestCommandReference -update writes it; -want +got):\n%s", file, diff)
	}
}

// reference is the reference of commands: what "redeliver help" says of each.
func reference(root *cobra.Command) string {
	var b strings.Builder
	shared := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, of := range []string{"peek", "purge"} {
		cmd, _, _ := root.Find([]string{of, "queue"})
		for _, name := range []string{"dir", "port", "json", "output", "yes"} {
			if f := cmd.LocalFlags().Lookup(name); f != nil && shared.Lookup(name) == nil {
				shared.AddFlag(f)
			}
		}
	}
	parallel, _, _ := root.Find([]string{"test"})
	parallel.Flags().Lookup("parallel").DefValue = "the processors of the machine"
	fmt.Fprintf(&b, "\nMade by `go test ./cmd/redeliver -run TestCommandReference -update`. Commands for a running host have these flags: `--output` those that show something, `--yes` those that take something away.\n\n```text\n%s```\n", shared.FlagUsages())
	for _, cmd := range root.Commands() {
		if cmd.GroupID != "" && !cmd.Hidden {
			describeCommand(&b, cmd, "###", shared)
		}
	}
	return b.String()
}

// describeCommand describes a command and those below it, without flags that are shared.
func describeCommand(b *strings.Builder, cmd *cobra.Command, heading string, shared *pflag.FlagSet) {
	fmt.Fprintf(b, "\n%s %s\n\n%s.\n", heading, strings.TrimPrefix(cmd.CommandPath(), "redeliver "), cmd.Short)
	if cmd.Long != "" {
		fmt.Fprintf(b, "\n%s\n", prose(cmd.Long))
	}
	fmt.Fprintf(b, "\n```text\n%s\n```\n", cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.TrimPrefix(strings.ReplaceAll(cmd.Example, "\n  ", "\n"), "  "))
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if same := shared.Lookup(f.Name); f.Name != "help" && (same == nil || cmd.Flags().Lookup("port") == nil || f.Usage != same.Usage && f.Name != "json") {
			flags.AddFlag(f)
		}
	})
	if flags.HasAvailableFlags() {
		fmt.Fprintf(b, "\n```text\n%s```\n", flags.FlagUsages())
	}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			describeCommand(b, sub, heading+"#", shared)
		}
	}
}

// prose is a help text in Markdown: each paragraph on a line, and what is indented as it is.
func prose(text string) string {
	var out []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			out = append(out, "```text\n"+paragraph+"\n```")
			continue
		}
		out = append(out, strings.NewReplacer("*", `\*`, "<", "&lt;", "_", `\_`).Replace(strings.Join(strings.Fields(paragraph), " ")))
	}
	return strings.Join(out, "\n\n")
}

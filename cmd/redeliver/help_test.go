package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops/all"
)

// commands are a command and all below it.
func commands(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		list = append(list, commands(sub)...)
	}
	return list
}

// TestHelpFitsTheTerminal: lines of prose are broken by hand, descriptions of flags at the
// terminal's width, below each other. Examples stay as they are, to be copied.
func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	const columns = 80
	var help strings.Builder
	for _, cmd := range commands(newRoot(cli.Streams{Out: &help}, all.Table())) {
		for line := range strings.Lines(cmd.Long) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns && cmd.Parent().Name() != "completion" {
				t.Errorf("%s --help: a line of %d columns, want at most %d: %s", cmd.CommandPath(), n, columns, line)
			}
		}
		help.Reset()
		if err := cmd.Help(); err != nil {
			t.Error(err)
		}
		broken := breakHelp(help.String(), columns)
		if got, want := strings.Fields(broken), strings.Fields(help.String()); !slices.Equal(got, want) {
			t.Errorf("%s --help: broken to %d columns it has other words:\n%s", cmd.CommandPath(), columns, broken)
		}
		for line := range strings.Lines(broken) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns && !(line[0] == ' ' && strings.Contains(line, "redeliver ")) {
				t.Errorf("%s --help: broken to %d columns it has a line of %d: %s", cmd.CommandPath(), columns, n, line)
			}
		}
		if usages := cmd.Flags().FlagUsages(); strings.Contains(usages, "Slice") || strings.Contains(usages, "(default [])") {
			t.Errorf("%s --help: the words of the flag library:\n%s", cmd.CommandPath(), usages)
		}
	}
}

// TestAnswersAsJSON: every command that does something can answer a program, by --json.
func TestAnswersAsJSON(t *testing.T) {
	t.Parallel()
	for _, cmd := range commands(newRoot(cli.Streams{}, all.Table())) {
		name := strings.TrimPrefix(cmd.CommandPath(), "redeliver ")
		verb, _, _ := strings.Cut(name, " ")
		if cmd.Hidden || cmd.HasSubCommands() && cmd.Flags().Lookup("dir") == nil || slices.Contains([]string{"help", "completion", "mcp", "kit"}, verb) { // mcp and kit speak JSON only
			continue
		}
		if cmd.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", name)
		}
	}
}

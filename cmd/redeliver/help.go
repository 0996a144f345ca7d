package main

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
)

// fitHelp makes the help of root and of all below it fit the terminal.
func fitHelp(root *cobra.Command, std cli.Streams) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text strings.Builder
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(std.Out)
		out := cli.NewConsole(std, false)
		out.Print(breakHelp(text.String(), out.Columns()))
	})
}

// described is a flag or a command with the blanks before its description.
var described = regexp.MustCompile(`^ +(-\w, +)?-?-?[a-z][\w-]*( \w+)?  +`) // read only

// breakHelp breaks prose, and the descriptions of flags and commands, between words where
// they would pass limit, and goes on below them. Examples stay as they are, to be copied.
// A limit of 0 leaves the text as it is.
func breakHelp(text string, limit int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		head := described.FindString(line)
		n := len(head)
		if line[0] != ' ' || n > 0 && 3*n < 2*limit {
			line = head + cli.Wrap(strings.TrimRight(line[n:], "\n"), n, n, limit) + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

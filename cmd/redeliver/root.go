package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

const about = `Redeliver runs an Azure Functions app on this machine and shows every delivery
and every attempt: retries inside a delivery, redelivery by the queue, and the
poison queue at the end. Its clock can skip the waiting.`

const firstSteps = `  redeliver init shop --lang go        write a small app
  redeliver start shop                 run it; Ctrl+C stops it
  redeliver send queue orders '{"id":"7","fail":true}'
  redeliver peek queue orders-poison   where that message ends`

// newRoot returns the command line as a whole.
func newRoot(std streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "redeliver",
		Short:         "Run Azure Functions locally, every delivery and attempt under control",
		Long:          about,
		Example:       firstSteps,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return hinted(&usageError{err}, fmt.Sprintf("%q lists the flags", cmd.CommandPath()+" --help"))
	})
	root.AddGroup(
		&cobra.Group{ID: "app", Title: "Apps:"},
		&cobra.Group{ID: "talk", Title: "Talking to a running host:"},
	)
	app := []*cobra.Command{newInit(std), newCheck(std), newStart(std), newKeys(std)}
	talk := []*cobra.Command{newLs(std), newCreate(std), newSend(std), newPeek(std), newPurge(std), newRedrive(std), newExpireLock(std), newUpload(std), newDownload(std), newInvoke(std), newClock(std), newState(std), newStop(std)}
	for _, cmd := range app {
		cmd.GroupID = "app"
		root.AddCommand(cmd)
	}
	for _, cmd := range talk {
		cmd.GroupID = "talk"
		root.AddCommand(cmd)
	}
	root.AddCommand(newVersion(std))
	return root
}

// knownCommand refuses words that are no command, with the nearest ones.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	err := &usageError{fmt.Errorf("unknown command %q", args[0])}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return hinted(err, "did you mean "+strings.Join(near, " or ")+"?")
	}
	help := "redeliver help"
	if cmd.HasParent() {
		help = cmd.CommandPath() + " --help"
	}
	return hinted(err, fmt.Sprintf("%q lists the commands", help))
}

// oneCommand is for a command that does nothing without another one.
func oneCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return knownCommand(cmd, args)
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return hinted(&usageError{fmt.Errorf("%s: a command is missing: %s", cmd.CommandPath(), strings.Join(names, " or "))},
		fmt.Sprintf("%q says more", cmd.CommandPath()+" --help"))
}

// commandFor is a command line about the app in dir.
func commandFor(name, dir string) string {
	if filepath.Clean(dir) == "." {
		return "redeliver " + name
	}
	return "redeliver " + name + " " + dir
}

// arguments limits the words after a command.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return hinted(&usageError{fmt.Errorf("%s: an argument is missing", cmd.CommandPath())}, "usage: "+cmd.UseLine())
		case len(args) > most:
			return hinted(&usageError{fmt.Errorf("%s: unexpected argument %q", cmd.CommandPath(), args[most])}, "usage: "+cmd.UseLine())
		}
		return nil
	}
}

// oneOf checks the value of a flag that takes one of some words.
func oneOf(flag, value string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	return &usageError{fmt.Errorf("--%s %q: want %s", flag, value, strings.Join(words, " or "))}
}

// gatherFunctions lets "--functions A B" name several functions, as func does:
// the words after the flag that are function names become one value. The app's
// folder therefore stands before the flag, or is written as a path ("./app").
func gatherFunctions(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		out = append(out, args[i])
		if args[i] == "--" {
			return append(out, args[i+1:]...)
		}
		if args[i] != "--functions" {
			continue
		}
		var names []string
		for i+1 < len(args) && isFunctionList(args[i+1]) {
			i++
			names = append(names, args[i])
		}
		if len(names) > 0 {
			out = append(out, strings.Join(names, ","))
		}
	}
	return out
}

// isFunctionList reports whether a word is a function name, or several with
// commas: a letter, then letters, digits, "-" and "_" (host-and-retry 5.1).
func isFunctionList(word string) bool {
	for name := range strings.SplitSeq(word, ",") {
		for i, c := range name {
			letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
			if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '-' || c == '_')) {
				return false
			}
		}
		if name == "" {
			return false
		}
	}
	return true
}

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/schemas"
)

// AddOutput adds --output of a command that has several forms of it, and --json for short.
func AddOutput(cmd *cobra.Command, output *string, otherwise, usage string) {
	cmd.Flags().StringVarP(output, "output", "o", otherwise, usage)
	short := cmd.Flags().VarPF(jsonFlag{output}, "json", "", "the same as --output json")
	short.NoOptDefVal = "true"
}

// jsonFlag is the value of --json, short for an output.
type jsonFlag struct{ output *string }

// String implements pflag.Value.
func (j jsonFlag) String() string { return strconv.FormatBool(j.output != nil && *j.output == "json") }

// Set implements pflag.Value.
func (j jsonFlag) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if on {
		*j.output = "json"
	}
	return err
}

// Type implements pflag.Value.
func (j jsonFlag) Type() string { return "bool" }

// WriteIndented writes JSON for people too.
func WriteIndented(std Streams, v any) error {
	enc := json.NewEncoder(std.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Interruptible does work that has to clean up after Ctrl+C: ctx ends, and then the
// program, with the exit code of an interruption.
func Interruptible(ctx context.Context, work func(ctx context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := work(ctx)
	if err != nil && ctx.Err() != nil {
		return ExitCode(ExitInterrupted)
	}
	return err
}

// coreToolsWords are commands of Core Tools that are others here, with what to type.
var coreToolsWords = map[string]string{ // read only
	"func":       "leave the word out: redeliver start, redeliver new NAME --trigger KIND, redeliver init DIR --lang LANGUAGE",
	"host":       "redeliver start",
	"azure":      "nothing is deployed from here: func azure functionapp publish NAME",
	"settings":   "edit Values of local.settings.json; redeliver check --json shows what is wrong there",
	"function":   "redeliver new NAME --trigger KIND",
	"templates":  "redeliver new --help lists the triggers",
	"extensions": "nothing has to be installed: redeliver start",
	"durable":    "redeliver start runs orchestrations; its HTTP API starts, queries and ends them, as the links of a client say",
	"pack":       "func pack: nothing is packed here",
}

// KnownCommand refuses words that are no command, with the nearest ones.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	err := Misused(fmt.Errorf("unknown command %q", args[0]))
	if instead := coreToolsWords[args[0]]; instead != "" && !cmd.HasParent() {
		return Hinted(err, instead)
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return Hinted(err, "did you mean "+strings.Join(near, " or ")+"?")
	}
	help := "redeliver help"
	if cmd.HasParent() {
		help = cmd.CommandPath() + " --help"
	}
	return Hinted(err, fmt.Sprintf("%q lists the commands", help))
}

// Group is a command that only holds subcommands.
func Group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  OneCommand,

		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(below...)
	return cmd
}

// OneCommand is for a command that does nothing without another one.
func OneCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return KnownCommand(cmd, args)
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return Hinted(Misused(fmt.Errorf("%s: a command is missing: %s", cmd.CommandPath(), strings.Join(names, " or "))),
		fmt.Sprintf("%q says more", cmd.CommandPath()+" --help"))
}

// Arguments limits the words after a command.
func Arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Hinted(Misused(fmt.Errorf("%s: an argument is missing", cmd.CommandPath())), "usage: "+cmd.UseLine())
		case len(args) > most:
			return Hinted(Misused(fmt.Errorf("%s: unexpected argument %q", cmd.CommandPath(), args[most])), "usage: "+cmd.UseLine())
		}
		return nil
	}
}

// OneOf checks the value of a flag that takes one of some words.
func OneOf(flag, value string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	return Mistaken(fmt.Errorf("--%s %q: want %s", flag, value, Choice(words)), value, words)
}

// Mistaken is the refusal of a word that is none of some, with the one that was meant.
func Mistaken(err error, word string, words []string) error {
	if near := schemas.Meant(word, words); near != "" {
		return Hinted(Misused(err), fmt.Sprintf("did you mean %q?", near))
	}
	return Misused(err)
}

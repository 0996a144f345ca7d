package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/run"
	"github.com/redeliver/redeliver/cmd/redeliver/scaffold"
	"github.com/redeliver/redeliver/cmd/redeliver/verbs"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/schemas"
)

const about = `Redeliver runs an Azure Functions app on this machine and shows every delivery
and every attempt: retries inside a delivery, redelivery by the queue, and the
poison queue at the end. Its clock can skip the waiting.`

const firstSteps = `  redeliver init shop --lang go        write a small app
  redeliver start shop                 run it; Ctrl+C stops it
  redeliver send queue orders '{"id":"7","fail":true}'
  redeliver peek queue orders-poison   where that message ends`

// newRoot returns the command line as a whole, for the services of a table.
func newRoot(std cli.Streams, table ops.Table) *cobra.Command {
	root := &cobra.Command{
		Use:           "redeliver",
		Short:         "Run Azure Functions locally, with every delivery and attempt under control",
		Long:          about,
		Example:       firstSteps,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.KnownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked, err := cmd.Flags().GetBool("version"); asked || err != nil {
				cli.NewConsole(std, true).Print(versionLine())
				return err
			}
			return cmd.Help()
		},
	}
	root.SetIn(std.In)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	root.SetFlagErrorFunc(flagError)
	// Cobra's own flag would bring package text/template, which keeps the methods of
	// every type in the binary.
	root.Flags().BoolP("version", "v", false, "version for redeliver")
	root.AddGroup(
		&cobra.Group{ID: "app", Title: "Apps:"},
		&cobra.Group{ID: "talk", Title: "Talking to a running host:"},
	)
	start := run.NewStart(std)
	start.AddCommand(verbs.StartOrchestration.Command(std))
	app := []*cobra.Command{scaffold.NewInit(std), scaffold.NewNew(std), newCheck(std), newTest(std), newKit(std), start, newKeys(std), newDoctor(std), newSchema(std)}
	talk := append(verbs.Commands(std, table), remote.NewStatus(std), newMCP(std))
	for _, cmd := range app {
		cmd.GroupID = "app"
		root.AddCommand(cmd)
	}
	for _, cmd := range talk {
		cmd.GroupID = "talk"
		root.AddCommand(cmd)
	}
	root.AddCommand(newVersion(std))
	completeFlags(root, table)
	root.SetHelpCommand(newHelp(std))
	fitHelp(root, std)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE = cli.OneCommand, func(cmd *cobra.Command, args []string) error { return cmd.Help() }
		}
	}
	return root
}

// newHelp returns the command that shows the help of another one.
func newHelp(std cli.Streams) *cobra.Command {
	var asJSON bool
	help := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return cli.Misused(err)
			}
			if len(rest) > 0 {
				return cli.KnownCommand(about, rest)
			}
			if asJSON {
				return cli.WriteIndented(std, cli.Describe(about))
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
	help.Flags().BoolVar(&asJSON, "json", false, "write the commands with their flags as JSON, for programs that write manuals")
	if err := help.Flags().MarkHidden("json"); err != nil { // it is there
		panic(err)
	}
	return help
}

// flagError explains a wrong flag. An unknown or missing command comes first: flags
// belong to a command.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasAvailableSubCommands() && cmd.Name() != "start" { // which runs apps by itself
		if instead := coreToolsFlag(err.Error()); instead != "" && len(cmd.Flags().Args()) == 0 {
			return cli.Hinted(cli.Misused(err), instead)
		}
		if words := cmd.Flags().Args(); len(words) > 0 {
			return cli.KnownCommand(cmd, words)
		}
		if cmd.HasParent() && cmd.Flags().Lookup("dir") == nil { // it does nothing by itself
			return cli.OneCommand(cmd, nil)
		}
	}
	text := err.Error()
	var number *strconv.NumError
	switch {
	case errors.As(err, &number):
		want := map[string]string{"ParseUint": "want a whole number of 0 or more", "ParseBool": "want true or false"}[number.Func]
		if want == "" {
			want = "want a whole number"
		}
		err = errors.New(strings.TrimSuffix(text, number.Error()) + want)
	case coreToolsFlag(text) != "":
		return cli.Hinted(cli.Misused(err), coreToolsFlag(text))
	case strings.HasPrefix(text, "unknown shorthand flag"):
		return cli.Hinted(cli.Misused(err), fmt.Sprintf("%q lists the flags; put -- before an argument that begins with -", cmd.CommandPath()+" --help"))
	}
	if name, unknown := strings.CutPrefix(text, "unknown flag: --"); unknown {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := schemas.Meant(name, names); near != "" {
			return cli.Hinted(cli.Misused(err), fmt.Sprintf("did you mean --%s?", near))
		}
	}
	return cli.Hinted(cli.Misused(err), fmt.Sprintf("%q lists the flags", cmd.CommandPath()+" --help"))
}

// gatherWorkerArguments lets "--language-worker -- ARGUMENTS" stand for
// "--language-worker ARGUMENTS", as func does.
func gatherWorkerArguments(args []string) []string {
	const flag = "--language-worker"
	i := slices.Index(args, flag)
	if i < 0 || i+2 >= len(args) || args[i+1] != "--" {
		return args
	}
	return slices.Concat(args[:i], []string{flag + "=" + args[i+2]}, args[i+3:])
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
// commas: a letter, then letters, digits, "-" and "_" (spec host-and-retry 5.1).
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

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/catalogue"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/run"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/schemas"
)

func newCheck(std cli.Streams) *cobra.Command {
	var set []string
	var output string
	var files app.EntityFiles
	var noBuild, strict bool
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Say what will happen to a message, and what is wrong in the app",
		Long: `Check reads the app in DIR (default: this folder) and runs no function. For each
function it prints the trigger, the effective retry policy and where it comes
from, attempts per delivery, deliveries and their product, the waiting time, and
where a message ends; then every error with file, line and JSON path, and the
lints. The app's Go program is built and asked for its declarations in code;
with --no-build only the files are read, and of an app in .NET what its last
build has written of the functions. What was not read is said.

The exit code is 1 when there are errors, and 0 when there are warnings only.
A function that Redeliver does not serve is a warning, since the others run.
With --strict the exit code is 1 for warnings and lints too.`,
		Args: cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.OneOf("output", output, "text", "json"); err != nil {
				return err
			}
			dir, err := remote.AppAbove(args)
			if err != nil {
				return err
			}
			if err := run.FindEntityFiles(&files); err != nil {
				return err
			}
			report, err := check(cmd.Context(), dir, set, files, noBuild, show.NewLog(cli.NewConsole(std, false), false, time.Now))
			if err != nil {
				return err
			}
			if err := writeReport(std.Out, report, output); err != nil {
				return err
			}
			if !report.OK() || strict && len(report.Warnings)+len(report.Lints) > 0 {
				return cli.ExitCode(cli.ExitFailure)
			}
			return nil
		},
	}
	cli.AddOutput(cmd, &output, "text", "text or json")
	cmd.Flags().BoolVar(&noBuild, "no-build", false, "do not build and ask the app's program")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 for warnings and lints too")
	run.AddEntityFiles(cmd, &files)
	run.AddSet(cmd, &set)
	return cmd
}

// check reads the app and reports on it. log is told of a build.
func check(ctx context.Context, dir string, set []string, files app.EntityFiles, noBuild bool, log zerolog.Logger) (*app.Report, error) {
	var a *app.App
	var err, handler error
	var unread []app.Problem
	if noBuild {
		a, unread, err = filesOnly(dir, &app.Options{Env: appsettings.Environment(os.Environ()), Set: set, Kinds: served.Facts(), Entities: files})
	} else if a, handler = host.Inspect(ctx, dir, &host.Options{Set: set, Logger: log, Entities: files, Outside: run.NewCloud(nil)}); a == nil {
		err = handler
	}
	if err != nil {
		return nil, run.Below(err, "check", dir)
	}
	if a.Bare {
		return nil, run.NoApp(dir)
	}
	report := app.Check(a)
	report.Warnings = append(report.Warnings, unread...)
	if handler != nil {
		p := app.Problem{File: "the app's program", Reason: handler.Error(), Hint: cmp.Or(host.Hint(handler), "with --no-build only the files are checked")}
		if f, ok := errors.AsType[*schemas.Fault](handler); ok {
			p.File, p.Reason, p.Hint = f.File, f.Reason, f.Hint
		}
		report.Errors = append(report.Errors, p)
	}
	if a.MissingHostJSON {
		report.Warnings = append(report.Warnings, app.Problem{
			File: "host.json", Reason: "there is none, or it is empty: start writes the default one",
			Hint: "is this the folder of a function app?",
		})
	}
	identify(report.Errors)
	identify(report.Warnings)
	return report, nil
}

// identify names the entries of the manual that tell more of problems.
func identify(problems []app.Problem) {
	for i := range problems {
		if e, ok := catalogue.Find(problems[i].Reason); ok {
			problems[i].ID = e.ID
		}
	}
}

// filesOnly reads the files of an app, and says what stands in code and was not read.
func filesOnly(dir string, opts *app.Options) (a *app.App, unread []app.Problem, err error) {
	if a, err = app.Load(dir, opts); err != nil || a.Bare || !a.OK() || !a.Handler.Served() {
		return a, nil, err
	}
	a, built, err := launch.LastBuild(a, opts)
	if err != nil {
		return nil, nil, err
	}
	switch edited := launch.Edited(dir, built); {
	case edited != "":
		unread = append(unread, app.Problem{
			File: edited, Reason: "it was written after the build whose functions were read, " + cli.Short(built),
			Hint: "leave --no-build out, or build the app",
		})
	case built == "" && len(a.Functions) == 0 && a.Handler.Kind != app.Custom:
		unread = append(unread, app.Problem{
			File: "the app's program", Reason: "its functions stand in code, and none was read",
			Hint: "leave --no-build out: the program is asked",
		})
	}
	return a, unread, nil
}

func writeReport(w io.Writer, report *app.Report, output string) error {
	if output == "text" {
		var text strings.Builder
		if err := report.Write(&text); err != nil {
			return err
		}
		columns := 0
		if f := cli.Terminal(w); f != nil {
			columns = cli.TerminalColumns(f)
		}
		_, err := io.WriteString(w, cli.Fit(cli.PrintableLines(text.String()), columns))
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}

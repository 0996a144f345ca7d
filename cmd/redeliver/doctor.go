package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/run"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/listen"
)

// finding is one thing that doctor has looked at.
type finding struct {
	Area   string `json:"area"`
	Name   string `json:"name"`
	State  string `json:"state"` // "ok", "missing", "busy" or "running"
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

func newDoctor(std cli.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Say what this machine has for function apps",
		Long: `Doctor looks for the interpreters and the language workers that run functions,
for programs at the ports that the host uses, for time zones, and for a host
that runs the app in DIR (default: the working folder). It starts nothing but
the interpreters, which it asks for their versions, and writes nothing. What is
missing comes with the command or the setting that helps. It exits with 0
whatever is missing: which of it an app needs depends on the app.`,
		Example: `  redeliver doctor
  redeliver doctor shop --json`,
		Args: cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := remote.AppAbove(args)
			if err != nil {
				return err
			}
			found := examine(cmd.Context(), dir)
			if asJSON {
				return cli.WriteIndented(std, found)
			}
			out := cli.NewConsole(std, true)
			area := ""
			for _, f := range found {
				if f.Area != area {
					area = f.Area
					out.Printf("%s\n", area)
				}
				for _, text := range []string{f.Detail, f.Hint} {
					if text != "" {
						out.Printf("  %-10s  %-7s  %s\n", f.Name, f.State, text)
						f.Name, f.State = "", ""
					}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}

// examine looks at everything.
func examine(ctx context.Context, dir string) []finding {
	list := []finding{{Area: "program", Name: "redeliver", State: "ok", Detail: cli.LongVersion()}}
	for _, p := range []struct{ name, command, hint string }{
		{"Go", "go", "for apps in Go: install Go (https://go.dev/dl)"},
		{"Node.js", "node", "for apps in JavaScript and TypeScript: install Node.js 18 or later (https://nodejs.org)"},
		{"npm", "npm", "for apps in JavaScript and TypeScript: it comes with Node.js"},
		{"Python", "python3 python", "for apps in Python: install Python 3.9 or later (https://www.python.org)"},
		{"Java", "java", "for apps in Java: install a JDK 11 or later (https://adoptium.net), or set JAVA_HOME to its folder"},
		{"javac", "javac", "for apps in Java: it comes with a JDK, not with a Java runtime (JRE)"},
		{".NET", "dotnet", "for apps in isolated .NET: install the .NET SDK 8 or later (https://dotnet.microsoft.com/download)"},
	} {
		list = append(list, program(ctx, p.name, strings.Fields(p.command), p.hint))
	}
	settings := settingsOf(dir)
	for _, language := range languages.WithArguments() {
		list = append(list, workerFor(dir, language, settings))
	}
	list = append(list, portFindings()...)
	return append(list, timeZones(), runningHost(dir))
}

// versionPatience is how long an interpreter may take to say its version.
const versionPatience = 5 * time.Second

// program looks for an interpreter in PATH and asks for its version.
func program(ctx context.Context, name string, commands []string, hint string) finding {
	f := finding{Area: "interpreters", Name: name, State: "missing", Hint: hint}
	for _, command := range commands {
		path, err := exec.LookPath(command)
		if err != nil {
			continue
		}
		argument := "--version"
		if command == "go" {
			argument = "version"
		}
		limited, cancel := context.WithTimeout(ctx, versionPatience)
		ask := exec.CommandContext(limited, path, argument)
		ask.WaitDelay = time.Second // for what it leaves behind with its output
		out, err := ask.CombinedOutput()
		cancel()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil // it has answered
		}
		first, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
		if err != nil {
			f.Detail = fmt.Sprintf("%s does not run: %v", path, err)
			continue
		}
		return finding{Area: f.Area, Name: name, State: "ok", Detail: strings.TrimSpace(string(first)) + "  " + path}
	}
	return f
}

// settingsOf are the settings that an app in dir would have.
func settingsOf(dir string) *appsettings.Settings {
	a, err := app.Load(dir, &app.Options{Env: appsettings.Environment(os.Environ()), ServicesOnly: true})
	if err != nil {
		return nil
	}
	return a.Settings
}

// workerFor looks for the worker of a language, as a start would.
func workerFor(dir, language string, settings *appsettings.Settings) finding {
	f := finding{Area: "language workers", Name: language, State: "missing"}
	if settings == nil {
		f.Detail = fmt.Sprintf("the folder %q cannot be read", dir)
		return f
	}
	found, err := launch.FindWorker(dir, "", language, settings)
	if none, ok := errors.AsType[*launch.NotFoundError](err); ok {
		f.Detail, f.Hint = none.Reason, none.Hint
		return f
	}
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.State, f.Detail = "ok", "the one that redeliver brings, run by "+found.Path
	if found.Official() {
		f.Detail = "the official one in " + found.Directory + ", run by " + found.Path
	}
	return f
}

// portFindings are the ports that a host uses unless flags name others.
func portFindings() (list []finding) {
	for _, p := range run.UsualPorts() {
		f := finding{Area: "ports", Name: fmt.Sprint(p.Number), State: "ok", Detail: "free, for " + p.Use}
		l, err := listen.Port{Number: p.Number}.Open()
		if err == nil {
			_ = l.Close()
		} else {
			f.State, f.Detail, f.Hint = "busy", err.Error()+", which is for "+p.Use, "stop the program that has it, or start with "+"--"+p.Flag+" 0"
		}
		list = append(list, f)
	}
	return list
}

// timeZones says whether schedules can name a time zone.
func timeZones() finding {
	f := finding{Area: "time", Name: "time zones", State: "ok", Detail: "WEBSITE_TIME_ZONE may name any"}
	if _, err := time.LoadLocation("Europe/Berlin"); err != nil {
		f.State, f.Detail, f.Hint = "missing", err.Error(), "install the package tzdata"
	}
	return f
}

// runningHost says whether a host runs the app in dir.
func runningHost(dir string) finding {
	f := finding{Area: "app", Name: filepath.Base(dir), State: "ok", Detail: "no host runs it"}
	info, err := remote.ReadRun(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		f.State, f.Detail = "missing", err.Error()
	case remote.Owned(dir):
		f.State, f.Detail = "running", fmt.Sprintf("process %d runs it at %s", info.PID, info.Address)
	default:
		f.Detail = "a host that ran it was killed; the next start goes on with its data"
	}
	if _, err := os.Stat(filepath.Join(dir, "host.json")); errors.Is(err, fs.ErrNotExist) {
		f.Detail = "there is no host.json; " + f.Detail
	}
	return f
}

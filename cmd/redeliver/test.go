package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/schemas"
)

// testFlags are the flags of command test.
type testFlags struct {
	app, run, seed, junit, output string
	repeat, parallel              int
	verbose, update, rerun        bool
}

func newTest(std cli.Streams) *cobra.Command {
	var flags testFlags
	cmd := &cobra.Command{
		Use:   "test [DIR|FILE ...]",
		Short: "Run scenarios: what must happen to messages that fail",
		Long: `Test runs the scenarios of files whose names end in .scenario.yaml, below each
DIR (default: this folder). A scenario sends messages, requests and events to a
function app, moves virtual time, and says what must come of it: attempts,
waits, deliveries, and where each message ends. The app's own handlers run, or
handlers that the scenario scripts without code.

Each scenario has a host and services of its own, so they run beside each other,
and a wait of a day takes no time. The same seed gives the same run.

The exit code is 1 when a scenario has failed or a file is faulty, and 0 when
all have passed or were skipped.`,
		Example: `  redeliver test
  redeliver test --run poison --verbose
  redeliver test tests --app dist --junit report.xml
  redeliver test --seed random --repeat 100`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"app", "junit", "seed"} { // of a variable that is not set: another run would be meant
				if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
					return cli.Misused(fmt.Errorf("--%s is empty", name))
				}
			}
			return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
				if flags.rerun {
					return flags.watch(ctx, std, args)
				}
				return flags.once(ctx, std, args)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.app, "app", "", "run the scenarios on the app in this folder, instead of their own")
	f.StringVar(&flags.run, "run", "", "run only scenarios whose names match this regular expression")
	f.StringVar(&flags.seed, "seed", "", "source of all chance: a number, or random; default: what the scenario says, else 0")
	f.IntVar(&flags.repeat, "repeat", 1, "run each scenario so often; with a seed, each time with the next one")
	f.IntVar(&flags.parallel, "parallel", runtime.NumCPU(), "run so many scenarios at the same time")
	f.StringVar(&flags.junit, "junit", "", "write a report in the JUnit format to this file")
	cli.AddOutput(cmd, &flags.output, "text", "text, or json: one line for each scenario")
	f.BoolVar(&flags.rerun, "watch", false, "run again after every change of a scenario or an app, until Ctrl+C")
	f.BoolVar(&flags.update, "update", false, "write the timelines that scenarios compare with (then: timeline) anew")
	f.BoolVar(&flags.verbose, "verbose", false, "name scenarios that have passed, too")
	return cmd
}

// once runs the scenarios.
func (flags *testFlags) once(ctx context.Context, std cli.Streams, args []string) error {
	cli.NewConsole(std, true).SayAge()
	r, err := flags.report(ctx, std, args)
	if err != nil {
		return err
	}
	if flags.junit != "" {
		if err := show.WriteJUnit(flags.junit, r.results, r.faults); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.sum.Failed > 0 || len(r.faults) > 0:
		return cli.ExitCode(cli.ExitFailure)
	}
	return nil
}

// report runs the scenarios and tells of them.
func (flags *testFlags) report(ctx context.Context, std cli.Streams, args []string) (*testReport, error) {
	jobs, faults, err := flags.plan(args)
	if err != nil {
		return nil, err
	}
	r := &testReport{flags: flags, std: std, faults: faults, begin: time.Now()} // of the real world
	r.files(faults)
	scenario.RunAll(ctx, jobs, flags.parallel, r.result)
	r.summary(len(jobs))
	return r, nil
}

// plan says what is to be run.
func (flags *testFlags) plan(args []string) ([]scenario.Job, []*schemas.Fault, error) {
	if err := cli.OneOf("output", flags.output, "text", "json"); err != nil {
		return nil, nil, err
	}
	accept, err := regexp.Compile(flags.run)
	if err != nil {
		return nil, nil, cli.Misused(fmt.Errorf("--run: %w", err))
	}
	if flags.repeat < 1 || flags.parallel < 1 {
		return nil, nil, cli.Misused(errors.New("--repeat and --parallel: want a number of 1 or more"))
	}
	seed, err := flags.firstSeed()
	if err != nil {
		return nil, nil, err
	}
	if flags.app != "" {
		if flags.app, err = remote.AppDir([]string{flags.app}); err != nil {
			return nil, nil, err
		}
	}
	files, err := scenarioFiles(args)
	if err != nil {
		return nil, nil, err
	}
	var jobs []scenario.Job
	var faults []*schemas.Fault
	for _, file := range files {
		list, wrong := scenario.Load(file)
		faults = append(faults, wrong...)
		for _, s := range list {
			if !accept.MatchString(s.Name) {
				continue
			}
			for i := range flags.repeat {
				o := &scenario.Options{App: flags.app, Update: flags.update}
				if seed != nil {
					n := *seed + uint64(i)
					o.Seed = &n
				} else if i > 0 {
					n := s.Seed + uint64(i)
					o.Seed = &n
				}
				jobs = append(jobs, scenario.Job{Scenario: s, Options: o})
			}
		}
	}
	if len(jobs) == 0 && len(faults) == 0 {
		return nil, nil, cli.Hinted(errors.New("no scenario to run"), "files of scenarios end in "+scenario.Suffixes[0]+"; --run accepts parts of their names")
	}
	return jobs, faults, nil
}

func (flags *testFlags) firstSeed() (*uint64, error) {
	var seed uint64
	switch flags.seed {
	case "":
		return nil, nil
	case "random":
		seed = uint64(rand.Uint32())
	default:
		n, err := strconv.ParseUint(flags.seed, 10, 63)
		if err != nil {
			return nil, cli.Misused(fmt.Errorf("--seed %q: want a number, or random", flags.seed))
		}
		seed = n
	}
	return &seed, nil
}

// scenarioFiles are the files that the arguments mean, each once.
func scenarioFiles(args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	var files []string
	known := map[string]bool{}
	add := func(list ...string) {
		for _, file := range list {
			if !known[file] {
				known[file] = true
				files = append(files, file)
			}
		}
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, cli.Hinted(fmt.Errorf("no file or folder %q", arg), "name files that end in "+scenario.Suffixes[0]+", or folders with such files")
		case !info.IsDir():
			add(filepath.Clean(arg))
			continue
		}
		found, err := scenario.Find(filepath.Clean(arg))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 && len(args) > 1 {
			return nil, cli.Hinted(fmt.Errorf("no scenario to run in %q", arg), "files of scenarios end in "+scenario.Suffixes[0])
		}
		add(found...)
	}
	return files, nil
}

// testReport writes what the runs came to.
type testReport struct {
	flags   *testFlags
	std     cli.Streams
	faults  []*schemas.Fault
	results []*scenario.Result
	sum     scenario.Sum
	begin   time.Time
}

// files tells of files that cannot be read.
func (r *testReport) files(faults []*schemas.Fault) {
	c := cli.NewConsole(r.std, r.flags.output == "json")
	for _, f := range faults {
		c.Fail(cli.Hinted(f, f.Hint))
	}
}

// testLine is the line of a scenario in JSON.
type testLine struct {
	File     string             `json:"file"`
	Line     int                `json:"line"`
	Name     string             `json:"name"`
	Status   string             `json:"status"` // passed, failed or skipped
	Reason   string             `json:"reason,omitempty"`
	Seed     uint64             `json:"seed"`
	Virtual  string             `json:"virtual"`
	Seconds  float64            `json:"seconds"` // of real time
	Failures []scenario.Failure `json:"failures,omitempty"`
}

func lineOf(res *scenario.Result) testLine {
	return testLine{
		File: res.Scenario.File, Line: res.Scenario.Line, Name: res.Scenario.Name, Status: statusOf(res), Reason: res.Skipped,
		Seed: res.Seed, Virtual: res.Virtual.String(), Seconds: res.Real.Seconds(), Failures: res.Failures,
	}
}

func statusOf(res *scenario.Result) string {
	switch {
	case res.Skipped != "":
		return "skipped"
	case res.Passed():
		return "passed"
	}
	return "failed"
}

// result writes the result of one run.
func (r *testReport) result(res *scenario.Result) {
	r.results = append(r.results, res)
	r.sum.Add(res)
	c := cli.NewConsole(r.std, r.flags.output == "json")
	if r.flags.output == "json" {
		line, err := json.Marshal(lineOf(res))
		if err == nil {
			c.Print(string(line) + "\n")
		}
		return
	}
	var b strings.Builder
	switch {
	case res.Skipped != "":
		cli.Writef(&b, "skip  %s: %s\n", res.Scenario.Name, res.Skipped)
	case !res.Passed():
		cli.Writef(&b, "%s  %s\n", c.Paint(cli.Red, "FAIL"), res.Scenario.Name)
		for i := range res.Failures {
			cli.Writef(&b, "  %s\n", cli.Block(res.Failures[i].String(), "  "))
		}
		if r.flags.seed != "" || r.flags.repeat > 1 {
			cli.Writef(&b, "  again with: %s\n", r.flags.again(res))
		}
	case r.flags.verbose:
		cli.Writef(&b, "ok    %s  (%s of virtual time in %s)\n", res.Scenario.Name, explain.Span(res.Virtual), res.Real.Round(time.Millisecond))
	}
	c.Print(b.String())
}

// again is the command that makes a run again, for a shell.
func (flags *testFlags) again(res *scenario.Result) string {
	command := "redeliver test " + cli.ShellWord(res.Scenario.File)
	if flags.app != "" {
		command += " --app " + cli.ShellWord(flags.app)
	}
	return command + fmt.Sprintf(" --run %s --seed %d", cli.ShellWord("^"+regexp.QuoteMeta(res.Scenario.Name)+"$"), res.Seed)
}

// summary ends the report. planned is the number of runs that were to be made.
func (r *testReport) summary(planned int) {
	if r.flags.output == "json" {
		return
	}
	c := cli.NewConsole(r.std, false)
	var b strings.Builder
	cli.Writef(&b, "%d passed, %d failed, %d skipped", r.sum.Passed, r.sum.Failed, r.sum.Skipped)
	if left := planned - len(r.results); left > 0 {
		cli.Writef(&b, ", %d not run", left)
	}
	if n := len(r.faults); n > 0 {
		cli.Writef(&b, ", %s in the files", cli.Plural(n, "fault"))
	}
	cli.Writef(&b, "; %s of virtual time in %s", explain.Span(r.sum.Virtual), time.Since(r.begin).Round(time.Millisecond))
	if r.flags.seed != "" && len(r.results) > 0 {
		cli.Writef(&b, "; seed %d", r.results[0].Seed)
	}
	c.Print(b.String() + "\n")
}

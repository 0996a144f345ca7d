package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/host/watch"
)

// testQuiet is how long files have to be quiet before the scenarios run again: an editor,
// or a build, writes more than once.
const testQuiet = 200 * time.Millisecond

// watch runs the scenarios now and after every change of their files or apps, until ctx
// ends.
func (flags *testFlags) watch(ctx context.Context, std cli.Streams, args []string) error {
	if flags.update || flags.junit != "" {
		return cli.Misused(errors.New("--watch: not with --update or --junit, which write files"))
	}
	for ctx.Err() == nil {
		folders, err := flags.folders(args)
		if err != nil {
			return err
		}
		tree, err := watch.NewTree(folders) // before the run, so that no edit is missed
		if err != nil {
			return err
		}
		err = flags.once(ctx, std, args)
		if _, told := errors.AsType[cli.ExitCode](err); err != nil && !told && ctx.Err() == nil {
			cli.NewConsole(std, false).Fail(err)
		}
		if ctx.Err() == nil {
			cli.NewConsole(std, false).Print("waiting for changes; Ctrl+C ends\n")
			tree.Changed(ctx, testQuiet)
		}
		if err := tree.Close(); err != nil {
			return err
		}
	}
	return nil
}

// folders are those of the scenarios and of their apps.
func (flags *testFlags) folders(args []string) ([]string, error) {
	files, err := scenarioFiles(args)
	if err != nil {
		return nil, err
	}
	var list []string
	if len(args) == 0 {
		args = []string{"."}
	}
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			list = append(list, filepath.Clean(arg))
		}
	}
	if flags.app != "" {
		list = append(list, flags.app)
	}
	for _, file := range files {
		list = append(list, filepath.Dir(file))
		scenarios, _ := scenario.Load(file) // faults are told by the run
		for _, s := range scenarios {
			if s.App != "" && flags.app == "" {
				list = append(list, filepath.Join(filepath.Dir(file), s.App))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

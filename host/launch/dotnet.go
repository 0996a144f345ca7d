package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/internal/dotnet"
)

// findDotnet looks for what runs the isolated .NET app in a folder: dotnet for a project,
// which is still to be built, or the worker of an output folder.
func findDotnet(s Search) (*Found, error) {
	if projectOf(s.App) != "" {
		return Find(s)
	}
	return s.Output(s.App)
}

// projectOf is the project file of an isolated .NET app, "" for none.
func projectOf(dir string) string {
	projects := dotnet.Find(dir)
	if len(projects) != 1 || projects[0].Model != dotnet.Isolated {
		return ""
	}
	return projects[0].Path
}

// buildDotnet builds a project, if the folder is one, and completes found by the worker
// that was built, and spec by the fingerprint of that.
func buildDotnet(ctx context.Context, s Search, found *Found, spec *app.HandlerSpec, how Build) error {
	project := projectOf(s.App)
	if project == "" {
		return nil // found in an output folder
	}
	built, err := dotnet.Build(ctx, dotnet.Options{
		Program: found.Path, Project: project, Folder: app.DotnetFolder(s.App), Env: how.Env, Only: how.Only, Tell: how.teller(filepath.Base(project)),
	})
	if errors.Is(err, dotnet.ErrNotBuilt) {
		return fmt.Errorf("%s has not been built as it is now: start once without --no-build", filepath.Base(project))
	}
	if err != nil {
		return err
	}
	output, err := s.Output(built.Root)
	if err != nil {
		return err
	}
	now := dotnet.Read(project, app.DotnetFolder(s.App))
	*found, spec.Fingerprint, spec.Folders, spec.Reads = *output, built.Fingerprint, now.Folders, now.Reads
	return nil
}

// teller says when a build begins and why, when it ends, and each of its warnings once.
func (how Build) teller(project string) dotnet.Teller {
	return dotnet.Teller{
		Waits:  func() { how.says("waiting for another build of %s", project) },
		Begins: func(why string) { how.says("building %s: %s", project, why) },
		Ended: func(took time.Duration, warnings []string) {
			how.says("built %s in %v", project, took.Round(100*time.Millisecond))
			for _, warning := range warnings {
				if how.Told.first("build " + warning) {
					how.Log.Warn().Msg(warning)
				}
			}
		},
	}
}

// says tells something that a person wants to know at every level of the log: without it there
// are seconds of silence.
func (how Build) says(format string, args ...any) {
	how.Log.Log().Str(zerolog.LevelFieldName, zerolog.LevelInfoValue).Msgf(format, args...)
}

// Settle builds an app of which only its build can say whether it has changed, and returns the
// app as it is then; any other app as it is. It runs outside the clock; when ctx ends the
// build is stopped. opts are those with which the app was loaded.
func Settle(ctx context.Context, a *app.App, opts *app.Options, how Build) (*app.App, error) {
	if a.Handler.Kind != app.Language || a.Handler.Reads == nil || !a.Handler.Worker {
		return a, nil
	}
	handler := a.Handler
	if _, err := Worker(ctx, a, &handler, how); err != nil {
		return nil, err
	}
	settled := *opts
	settled.Handler, settled.Settings = &handler, a.Settings
	return app.Load(a.Dir, &settled)
}

// Prune removes what was built for the app of a folder and is not needed any more. keep
// are the folders of Found.App that are in use.
func Prune(dir string, keep []string) { dotnet.Prune(app.DotnetFolder(dir), keep...) }

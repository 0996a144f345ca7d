package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/internal/dotnet"
	"github.com/redeliver/redeliver/host/worker"
)

// findDotnet looks for what runs the isolated .NET app in a folder: dotnet for a project,
// which is still to be built, or the worker of an output folder.
func findDotnet(s worker.Search) (*worker.Found, error) {
	if projectOf(s.App) != "" {
		return worker.Find(s)
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

// outputsFolder is where the builds of an app are kept, one for each generation.
func outputsFolder(dir string) string { return filepath.Join(app.StateFolder(dir), "dotnet") }

// buildDotnet builds a project, if the folder is one, and completes found by the worker
// that was built.
func buildDotnet(ctx context.Context, s worker.Search, found *worker.Found, how Build) error {
	project := projectOf(s.App)
	if project == "" {
		return nil // found in an output folder
	}
	root, err := dotnet.Build(ctx, dotnet.Options{
		Program: found.Path, Project: project, Fingerprint: how.Fingerprint, Folder: outputsFolder(s.App), Env: how.Env, Only: how.Only,
	})
	if errors.Is(err, dotnet.ErrNotBuilt) {
		return fmt.Errorf("%s has not been built: start once without --no-build", filepath.Base(project))
	}
	if err != nil {
		return err
	}
	built, err := s.Output(root)
	if err != nil {
		return err
	}
	*found = *built
	return nil
}

// Prune removes what was built for the app of a folder and is not needed any more. keep
// are the folders of Found.App that are in use.
func Prune(dir string, keep []string) { dotnet.Prune(outputsFolder(dir), keep...) }

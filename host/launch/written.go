package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/worker"
)

// LastBuild reads the functions of an isolated .NET app as its last build wrote them down: one
// of the host's, or of the project's own tools, whichever is newer. The app is returned with
// them, and the file that was read; a without them and "" where there is no build.
func LastBuild(a *app.App, opts *app.Options) (read *app.App, file string, err error) {
	if a.Handler.Kind != app.Language || a.Handler.Runtime != languages.Dotnet {
		return a, "", nil
	}
	bin := filepath.Join(a.Dir, "bin")
	output := worker.LatestOutput(a.Dir, filepath.Join(app.DotnetFolder(a.Dir), "*"), filepath.Join(bin, "*", "*"), filepath.Join(bin, "*", "*", "*"))
	if output == "" {
		return a, "", nil
	}
	with := *opts
	if with.Declared, err = worker.Written(output); err != nil {
		return nil, "", err
	}
	with.Handler = a.Handler.Started()
	read, err = app.Load(a.Dir, &with)
	return read, filepath.Join(output, "functions.metadata"), err
}

// Edited is a file of a .NET app that was written after another one; empty for none.
func Edited(dir, after string) (file string) {
	since, err := os.Stat(after)
	if err != nil {
		return ""
	}
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil || file != "":
			return filepath.SkipAll
		case e.IsDir() && path != dir && (e.Name() == "bin" || e.Name() == "obj" || strings.HasPrefix(e.Name(), ".")):
			return filepath.SkipDir
		case e.IsDir() || !slices.Contains([]string{".cs", ".fs", ".csproj", ".fsproj"}, filepath.Ext(path)):
			return nil
		}
		if info, err := e.Info(); err == nil && info.ModTime().Sub(since.ModTime()) > time.Second {
			file, _ = filepath.Rel(dir, path)
		}
		return nil
	})
	return file
}

package app

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/internal/dotnet"
)

// NoAppError is the error of [Load] for a folder that holds no app, and has apps below it:
// the folder of a solution, or the root of a repository. [App.Bare] is of a folder without apps
// below it.
type NoAppError struct {
	// Apps are the project files of function apps below the folder, or the host.json of
	// those without a project of .NET: slash paths, by name, a few at most.
	Apps []string
}

func (e *NoAppError) Error() string {
	return "the folder holds no app, and these stand below it: " + strings.Join(e.Apps, ", ")
}

// Bounds of the search for apps below a folder.
const (
	deepest = 4
	mostNew = 8
)

// elsewhere is the error of a folder without anything of an app, when there are apps below.
func (l *loader) elsewhere() error {
	h := &l.app.Handler
	bare := h.Kind == NoHandler || h.Kind == Language && (l.handler.language == nil || l.handler.language.sign == "")
	if l.opts.InProcess || !l.app.MissingHostJSON || isFile(l.app.Dir, document.HostFile) || !bare || len(l.app.Functions) > 0 || isFile(l.app.Dir, document.LocalFile) {
		return nil
	}
	if apps := appsBelow(l.app.Dir); len(apps) > 0 {
		return &NoAppError{apps}
	}
	l.app.Bare = true
	return nil
}

func appsBelow(dir string) (apps []string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil || !e.IsDir() || path == dir:
			return nil
		case Unwatched(e.Name()) || dotnet.Leaves(e.Name()) || strings.Count(rel, string(filepath.Separator)) >= deepest:
			return fs.SkipDir
		}
		sign := ""
		for _, p := range dotnet.Find(path) {
			switch p.Model {
			case dotnet.Test:
				return fs.SkipDir // what it copies beside itself is no app
			case dotnet.Isolated, dotnet.InProcess:
				sign = p.Name()
			}
		}
		if sign == "" && isFile(path, document.HostFile) {
			sign = document.HostFile
		}
		if sign == "" {
			return nil
		}
		if len(apps) == mostNew {
			apps = append(apps, fmt.Sprintf("and more than %d others", mostNew-1))
			return fs.SkipAll
		}
		apps = append(apps, filepath.ToSlash(filepath.Join(rel, sign)))
		return fs.SkipDir
	})
	return apps
}

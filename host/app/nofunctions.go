package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// blueprint is how a file in Python makes a blueprint.
var blueprint = regexp.MustCompile(`(?m)^\s*\w+\s*=\s*(\w+\.)*Blueprint\(`)

// nothingDeclared warns of an app in which nothing is a function, once its handlers were
// asked, and says what is missing.
func (l *loader) nothingDeclared() {
	h := &l.app.Handler
	if l.opts.Declared == nil || len(l.app.Functions) > 0 || h.Kind != Language || !h.Worker {
		return
	}
	w := &schemas.Fault{File: document.HostFile, Reason: "the app has no function, neither a function.json nor one in code", Hint: "\"redeliver new\" adds one"}
	switch h.Runtime {
	case "node":
		text, err := os.ReadFile(filepath.Join(l.app.Dir, packageFileName))
		var described struct{ Main string }
		switch {
		case err != nil:
			w.Reason, w.Hint = "the app has no function: without a package.json no file that registers functions is loaded", "write a package.json whose \"main\" names the files, for instance \"src/functions/*.js\""
		case json.Unmarshal(text, &described) == nil && described.Main == "":
			w.File, w.Path = packageFileName, "main"
			w.Reason, w.Hint = "the app has no function: \"main\" is missing, and no file that registers functions is loaded", "name the files, for instance \"src/functions/*.js\""
		default:
			w.File, w.Path = packageFileName, "main"
			w.Reason, w.Hint = "the app has no function: no file that \"main\" names registers one", "register functions with app.http, app.storageQueue and so on, or name other files"
		}
	case "python":
		w.File = "function_app.py"
		w.Reason, w.Hint = "the app has no function: nothing is registered with the FunctionApp", "decorate a function, for instance with @app.route"
		if file := l.blueprintFile(); file != "" {
			w.Reason, w.Hint = "the app has no function: "+file+" has a blueprint, which is not registered", "add app.register_functions(NAME) for each blueprint"
		}
	case "java":
		w.Reason, w.Hint = "the app has no function: no method has the annotation @FunctionName", "annotate one, and package the app again"
	}
	l.warn(w)
}

// packageFileName is the file that describes a package of Node.js.
const packageFileName = "package.json"

// blueprintFile is a file in Python of the app, in its folder or one below, that makes a
// blueprint.
func (l *loader) blueprintFile() string {
	for _, pattern := range []string{"*.py", filepath.Join("*", "*.py")} {
		files, _ := filepath.Glob(filepath.Join(globEscape(l.app.Dir), pattern)) // the pattern is well formed
		for _, path := range files {
			rel, err := filepath.Rel(l.app.Dir, path)
			if first, _, _ := strings.Cut(filepath.ToSlash(rel), "/"); err != nil || Unwatched(first) {
				continue
			}
			if text, err := os.ReadFile(path); err == nil && blueprint.Match(text) {
				return filepath.ToSlash(rel)
			}
		}
	}
	return ""
}

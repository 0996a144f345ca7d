package app

import (
	"debug/buildinfo"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/schemas"
)

const (
	handlerProgram = hostjson.HandlerDescription + "defaultExecutablePath"
	modulePath     = "github.com/redeliver/redeliver"
)

// prebuilt describes the executable that host.json names: a file of the app if
// there is one, else a program in PATH (spec workers 13.1). It is not started to find
// out what it is: a program that is not built with package functions serves HTTP.
func (l *handlerFinder) prebuilt(h *HandlerSpec, c *hostjson.CustomHandler) {
	name := c.DefaultExecutablePath
	path, found := l.program(name)
	isMain, imports := l.mainPackage()
	plugin := h.Runtime == "go" || imports
	switch {
	case plugin:
	case found:
		plugin, _ = builtWithFunctions(path)
	default: // it is not built yet, or not installed
		plugin = !isMain && !c.OverHTTP
	}
	if !plugin {
		l.customHandler(h, c)
		return
	}
	h.Kind, h.WorkingDirectory = Executable, l.app.Dir
	if c.WorkingDirectory != "" {
		h.WorkingDirectory = absolute(l.app.Dir, c.WorkingDirectory)
	}
	for i, argument := range c.Arguments {
		h.Arguments = append(h.Arguments, l.expand(schemas.IndexPath(c.Section+hostjson.HandlerDescription+"arguments", i), argument))
	}
	h.Path = path
	switch inPath := !strings.ContainsAny(name, `/\`); {
	case found && inPath && path != filepath.Join(l.app.Dir, name) && path != filepath.Join(l.app.Dir, name)+".exe":
		h.Path = name // the start looks it up again
	case found:
		h.Fingerprint = fileDigest(path)
	case !inPath:
		h.Fault = l.app.hostDoc.Fault(c.Section+handlerProgram, schemas.Quote(name), "a program in the app's folder or in PATH", "the handler program does not exist")
		h.Fault.Hint = "build it first, or remove customHandler to have a Go app built"
	}
}

// program finds the executable of that name: below the app, or in PATH.
func (l *handlerFinder) program(name string) (path string, found bool) {
	path = absolute(l.app.Dir, filepath.FromSlash(name))
	candidates := []string{path}
	if runtime.GOOS == "windows" {
		candidates = append(candidates, path+".exe")
	}
	for _, p := range candidates {
		if isFile(p) {
			return p, true
		}
	}
	if strings.ContainsAny(name, `/\`) {
		return path, false
	}
	if inPath, err := exec.LookPath(name); err == nil {
		return inPath, true
	}
	return name, false
}

// builtWithFunctions reports whether a file is a Go program that was built with this
// module, which its build information says; known is false when it has none.
func builtWithFunctions(path string) (with, known bool) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return false, false
	}
	if info.Main.Path == modulePath {
		return true, true
	}
	for _, d := range info.Deps {
		if d.Path == modulePath {
			return true, true
		}
	}
	return false, true
}

// NoHandlerProgram returns a *[schemas.Fault] when the program that was built from an
// app's source cannot be a handler, because nothing in it comes from the functions
// package. To start it would be to wait for a handshake that does not come.
func NoHandlerProgram(path string) error {
	if with, known := builtWithFunctions(path); with || !known {
		return nil
	}
	return &schemas.Fault{
		File: "main.go", Reason: "the Go program in the app's folder does not import package " + functionsPackage + ", so it runs no functions",
		Hint: "redeliver init writes such a program; without FUNCTIONS_WORKER_RUNTIME go this one is not used",
	}
}

// customHandler makes h the HTTP custom handler that host.json describes (spec workers
// 13.1).
func (l *handlerFinder) customHandler(h *HandlerSpec, c *hostjson.CustomHandler) {
	description := c.Section + hostjson.HandlerDescription
	name := l.expand(c.Section+handlerProgram, c.DefaultExecutablePath)
	path, found := l.program(name)
	h.Kind, h.Path, h.WorkingDirectory = Custom, path, l.app.Dir
	if c.WorkingDirectory != "" {
		h.WorkingDirectory = absolute(l.app.Dir, l.expand(description+"workingDirectory", c.WorkingDirectory))
	}
	add := func(member string, arguments []string) {
		for i, argument := range arguments {
			argument = l.expand(schemas.IndexPath(description+member, i), argument)
			h.Arguments = append(h.Arguments, argument)
			l.fileOfHandler(h, absolute(h.WorkingDirectory, filepath.FromSlash(argument)))
		}
	}
	l.fileOfHandler(h, path)
	add("arguments", c.Arguments)
	if c.DefaultWorkerPath != "" {
		file := absolute(l.app.Dir, filepath.FromSlash(l.expand(description+"defaultWorkerPath", c.DefaultWorkerPath)))
		h.Arguments = append(h.Arguments, file)
		l.fileOfHandler(h, file)
	}
	add("workerArguments", c.WorkerArguments)
	if !found {
		h.Fault = l.app.hostDoc.Fault(c.Section+handlerProgram, schemas.Quote(name), "a program in the app's folder or in PATH", "the program of the custom handler does not exist")
		h.Fault.Hint = "build it or install it; the host tries again when a file of the app has changed"
	}
}

// fileOfHandler takes note of a file of the app that a custom handler consists of.
func (l *handlerFinder) fileOfHandler(h *HandlerSpec, path string) {
	if relative, err := filepath.Rel(l.app.Dir, path); err != nil || !filepath.IsLocal(relative) || relative == "." {
		return
	}
	h.Files = append(h.Files, path)
	if isFile(path) {
		h.Fingerprint += fileDigest(path)
	}
}

// variable matches the %NAME% of an argument.
var variable = regexp.MustCompile(`%[^%]+%`) // read only

// expand replaces %NAME% in an argument by the setting of that name. Unknown names
// stay as they are, as on the platform (spec workers 13.1).
func (l *handlerFinder) expand(path, argument string) string {
	return variable.ReplaceAllStringFunc(argument, func(text string) string {
		name := strings.Trim(text, "%")
		if value, ok := l.app.Settings.Lookup(name); ok {
			return value
		}
		if !slices.ContainsFunc(hostjson.HandlerVariables, func(v string) bool { return strings.EqualFold(v, name) }) {
			w := l.app.hostDoc.Fault(path, schemas.Quote(argument), "", "no setting has the name "+schemas.Quote(name)+": the argument keeps "+text+" as it is")
			w.Hint = "set " + name + " in the environment or under Values in " + document.LocalFile
			l.warn(w)
		}
		return text
	})
}

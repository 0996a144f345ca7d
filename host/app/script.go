package app

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// script finds a function's script (spec host-and-retry 5.2; host:
// HostFunctionMetadataProvider.cs DeterminePrimaryScriptFile). An app whose
// handler is one program has none.
func (l *loader) script(f *Function, root map[string]any) {
	f.EntryPoint, _ = root["entryPoint"].(string)
	named := scriptText(root["scriptFile"])
	if named != "" {
		file := filepath.Join(f.Dir, filepath.FromSlash(named))
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			f.fault(scriptFile, f.at("scriptFile"), schemas.KindConfiguration, schemas.Quote(named), "a path relative to the function's folder",
				"scriptFile is set to a file that does not exist")
			return
		}
		f.ScriptFile = path.Join(path.Dir(f.File), filepath.ToSlash(named))
		return
	}
	if l.opts.InProcess || !l.app.Handler.NeedsScript() {
		return
	}
	if name := primaryScript(f.Dir); name != "" {
		f.ScriptFile = path.Join(path.Dir(f.File), name)
		return
	}
	fault := f.fault(scriptFile, f.at("scriptFile"), schemas.KindConfiguration, "", "run.*, index.js, index.mjs, index.cjs or __init__.py",
		"unable to determine the primary function script")
	fault.Hint = l.handler.nothingRuns()
	if l.app.Handler.Kind == Language {
		fault.Hint = "rename the main file to index or run, or set scriptFile"
	}
}

// scriptText is a value that stands for a text, as the platform's JSON library has it.
func scriptText(v any) string {
	if b, ok := v.(bool); ok {
		return map[bool]string{true: "True", false: "False"}[b]
	}
	return document.ScalarText(v)
}

// primaryScript picks the script: a single file besides function.json, or the
// first by name that is called run.* or one of the usual names.
func primaryScript(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && !strings.EqualFold(e.Name(), document.FunctionFile) {
			files = append(files, e.Name())
		}
	}
	if len(files) == 1 {
		return files[0]
	}
	usual := []string{"index.js", "index.mjs", "index.cjs", "__init__.py"}
	for _, name := range files {
		lower := strings.ToLower(name)
		if stem, _, _ := strings.Cut(lower, "."); stem == "run" && strings.Contains(lower, ".") || slices.Contains(usual, lower) {
			return name
		}
	}
	return ""
}

package app

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

var functionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`) // read only; a count in it costs each start

// ValidName reports whether the platform takes a name for a function (host: Utility.cs).
func ValidName(name string) bool { return len(name) <= 128 && functionName.MatchString(name) }

const reservedName = "host"

// loadFunctions finds the functions (spec host-and-retry 5.1): every direct
// sub-folder with a function.json, and what the handler declares in code. Then
// come the allow list and everything that needs more than one function or the
// settings.
func (l *loader) loadFunctions() {
	functions := l.fromRoutes(l.inCodeOnly(l.fromFolders()))
	functions = append(functions, l.fromCode(functions)...)
	sortFunctions(functions)
	functions = l.allowed(functions)
	l.duplicates(functions)
	for _, f := range functions {
		l.checkName(f)
		l.checkBindings(f)
		l.disabling(f)
	}
	for _, f := range functions {
		l.indexer.index(f)
	}
	l.handler.notServed(functions)
	l.indexer.nameOthers()
	l.checkRoutes(functions)
	l.durableClash(functions)
	for _, f := range functions {
		f.Faults = inOrder(f.staged)
		schemas.Sort(f.Warnings)
		l.applyPolicy(f)
	}
	l.app.Functions = functions
}

// inCodeOnly leaves out the functions of folders when a worker has declared the app's
// functions: the platform reads no function.json then (spec workers 4.2).
func (l *loader) inCodeOnly(folders []*Function) []*Function {
	if l.app.Handler.Kind != Language || len(l.opts.Declared) == 0 {
		return folders
	}
	for _, f := range folders {
		l.warn(&schemas.Fault{
			File: f.File, Reason: "the app declares its functions in code, so that the file does not count",
			Hint: "remove the folder, or declare the function in code",
		})
	}
	return nil
}

func (l *loader) fromFolders() []*Function {
	folder := l.functionsFolder()
	names, err := l.functionFolders(folder)
	if err != nil {
		return nil // it could be read a moment ago; the next load will see
	}
	var functions []*Function
	for _, name := range names {
		dir := filepath.Join(l.app.Dir, folder, name)
		f := &Function{Name: name, Dir: dir, File: path.Join(filepath.ToSlash(folder), name, document.FunctionFile)}
		l.readFunctionFile(f, filepath.Join(dir, document.FunctionFile))
		functions = append(functions, f)
	}
	return functions
}

// sortFunctions orders by name, ordinal ignoring case, which folds to upper case
// on the platform.
func sortFunctions(functions []*Function) {
	slices.SortStableFunc(functions, func(a, b *Function) int {
		return cmp.Or(
			strings.Compare(strings.ToUpper(a.Name), strings.ToUpper(b.Name)),
			strings.Compare(a.Name, b.Name))
	})
}

// allowed applies the "functions" list of host.json and its overrides.
func (l *loader) allowed(functions []*Function) []*Function {
	list := l.app.Config.Functions
	if len(list) == 0 {
		return functions
	}
	for i, name := range list {
		if !slices.ContainsFunc(functions, func(f *Function) bool { return strings.EqualFold(f.Name, name) }) && l.opts.Declared != nil {
			path := schemas.IndexPath("functions", i)
			l.warn(l.app.hostDoc.Fault(path, schemas.Quote(name), "", "the list of functions to run names an unknown function"))
		}
	}
	return slices.DeleteFunc(functions, func(f *Function) bool {
		return !slices.ContainsFunc(list, func(name string) bool { return strings.EqualFold(f.Name, name) })
	})
}

// duplicates puts every later function of one name in error. (On the platform
// two such folders can only exist on a case-sensitive disk, and the first wins
// in most lookups.)
func (l *loader) duplicates(functions []*Function) {
	for i, f := range functions {
		if i > 0 && strings.EqualFold(functions[i-1].Name, f.Name) {
			f.fault(indexing, f.base, schemas.KindInvalidOperation, schemas.Quote(f.Name), "",
				fmt.Sprintf("the name must be unique: the function %q has it already (letter case does not count)", functions[i-1].Name))
		}
	}
}

func (l *loader) checkName(f *Function) {
	const allowed = "a letter, then letters, digits, _ and -; 128 characters in all"
	switch {
	case strings.EqualFold(f.Name, reservedName):
		f.fault(nameOfFunction, f.base, schemas.KindInvalidOperation, schemas.Quote(f.Name), "", fmt.Sprintf("%q is not a valid function name: it is reserved", f.Name))
	case !ValidName(f.Name):
		f.fault(nameOfFunction, f.base, schemas.KindInvalidOperation, schemas.Quote(f.Name), allowed, fmt.Sprintf("%q is not a valid function name", f.Name))
	}
}

// disabling decides whether the function has a listener (spec host-and-retry 5.6).
// An app setting wins over function.json's "disabled" (D-10).
func (l *loader) disabling(f *Function) {
	for _, name := range [...]string{"AzureWebJobs." + f.Name + ".Disabled", "AzureWebJobs_" + f.Name + "_Disabled"} {
		if value, ok := l.app.Settings.Lookup(name); ok {
			f.Disabled = settingEnabled(value)
			f.DisabledBy = ""
			if f.Disabled {
				f.DisabledBy = "setting " + name
				return
			}
		}
	}
	if f.DisabledBy != "" || l.hasDisablingSetting(f) {
		return
	}
	if f.doc == nil {
		return
	}
	switch v, _ := f.doc.Lookup(f.at("disabled")); v := v.(type) {
	case bool:
		if f.Disabled = v; v {
			f.DisabledBy = f.file()
		}
	case string:
		name := strings.Trim(v, "%")
		value, ok := l.app.Settings.Lookup(name)
		if f.Disabled = settingEnabled(value); f.Disabled {
			f.DisabledBy = "setting " + name
		}
		if !ok {
			f.warnAt(f.at("disabled"), schemas.Quote(v), "true, false, or the name of a setting",
				"no setting of this name exists, so the function is not disabled", "write true without quotes to disable it")
		}
	case []any, map[string]any:
		f.warnAt(f.at("disabled"), f.doc.Found(f.at("disabled")), "true, false, or the name of a setting", "the value is not read", "")
	}
}

func (l *loader) hasDisablingSetting(f *Function) bool {
	_, dots := l.app.Settings.Lookup("AzureWebJobs." + f.Name + ".Disabled")
	_, lines := l.app.Settings.Lookup("AzureWebJobs_" + f.Name + "_Disabled")
	return dots || lines
}

func settingEnabled(value string) bool {
	return value == "1" || strings.EqualFold(value, "true")
}

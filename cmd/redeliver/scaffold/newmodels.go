package scaffold

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app"
)

// inGo writes a Go file that registers the function, and has main call it.
func (n *newFunction) inGo(a *app.App) (*addition, error) {
	dir, err := filepath.Rel(a.Dir, a.Handler.Path)
	if err != nil {
		return nil, err
	}
	if err := n.unused(a.Handler.Path, ".go"); err != nil {
		return nil, err
	}
	register := "add" + goName(n.name)
	body := n.fill(n.section("function.go.tmpl"))
	imports := []string{"context"}
	if n.kind.name == "http" {
		imports = []string{"cmp", "fmt", "net/http"}
	}
	text := "package main\n\nimport (\n"
	for _, name := range imports {
		text += "\t\"" + name + "\"\n"
	}
	text += "\n\t\"" + cli.ModulePath + "/functions\"\n)\n\n// " + register + " registers the function " + n.name + ".\nfunc " + register + "(app *functions.App) {\n" + body + "}\n"
	added := &addition{changes: []change{{path.Join(filepath.ToSlash(dir), strings.ToLower(goName(n.name))+".go"), text, true}}}
	main, err := callFromMain(a.Handler.Path, register)
	switch {
	case err != nil:
		return nil, err
	case main == nil:
		added.left = append(added.left, "call "+register+"(app) in main, before functions.Main")
	default:
		main.file = path.Join(filepath.ToSlash(dir), main.file)
		added.changes = append(added.changes, *main)
	}
	return added, nil
}

// callFromMain is the file of the program in dir that calls functions.Main(app), with a
// call of register before it; nil when there is no such call of a variable.
func callFromMain(dir, register string) (*change, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		positions := token.NewFileSet()
		parsed, err := parser.ParseFile(positions, file, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, cli.Hinted(fmt.Errorf("cannot read %s: %w", filepath.Base(file), err), "correct the file first")
		}
		at, variable := 0, ""
		ast.Inspect(parsed, func(node ast.Node) bool {
			statement, ok := node.(*ast.ExprStmt)
			if !ok {
				return true
			}
			call, ok := statement.X.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			called, ok := call.Fun.(*ast.SelectorExpr)
			from, isName := call.Args[0].(*ast.Ident)
			if ok && isName && called.Sel.Name == "Main" {
				if pkg, ok := called.X.(*ast.Ident); ok && pkg.Name == "functions" {
					at, variable = positions.Position(call.Pos()).Offset, from.Name
				}
			}
			return true
		})
		if variable == "" {
			continue
		}
		changed, err := format.Source(slices.Concat(text[:at], []byte(register+"("+variable+")\n"), text[at:]))
		if err != nil {
			return nil, err
		}
		return &change{file: filepath.Base(file), text: string(changed)}, nil
	}
	return nil, nil
}

// unused fails when a source file in dir holds the name of the function in quotes.
func (n *newFunction) unused(dir string, extensions ...string) error {
	quoted := regexp.MustCompile("(?i)[\"'`]" + regexp.QuoteMeta(n.name) + "[\"'`]")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // it is made
	}
	for _, entry := range entries {
		if !slices.Contains(extensions, filepath.Ext(entry.Name())) {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(dir, entry.Name())); err == nil && quoted.Match(text) {
			return cli.Hinted(fmt.Errorf("%s holds the name %q already", entry.Name(), n.name), "choose another name")
		}
	}
	return nil
}

// inPython appends the function to the file of decorators, or makes a folder for it in
// an app of function.json files.
func (n *newFunction) inPython(a *app.App) (*addition, error) {
	file := a.Settings.Get("PYTHON_SCRIPT_FILE_NAME")
	if file == "" {
		file = "function_app.py"
	}
	text, err := os.ReadFile(filepath.Join(a.Dir, file))
	if err != nil && len(a.Functions) > 0 {
		if n.kind.coded {
			return nil, cli.Hinted(fmt.Errorf("new writes a function of kind %s in code, and this app has a function.json for each", n.kind.name), "redeliver init --lang python writes an app with functions in code")
		}
		script := "import logging\n\nimport azure.functions as func\n\n\n" + n.section("function.pythonv1.tmpl")
		return &addition{changes: []change{{n.name + "/__init__.py", script, true}, {n.name + "/function.json", n.functionFile("$return"), true}}}, nil
	}
	made := errors.Is(err, os.ErrNotExist)
	if made {
		text = []byte("import logging\n\nimport azure.functions as func\n\napp = func.FunctionApp()\n")
	} else if err != nil {
		return nil, err
	}
	if err := n.unused(a.Dir, ".py"); err != nil {
		return nil, err
	}
	declared := pythonApp.FindSubmatch(text)
	if declared == nil {
		return nil, cli.Hinted(fmt.Errorf("%s declares no functions.FunctionApp at its top level", file), "new adds to a file with the line: app = func.FunctionApp()")
	}
	n.words["App"], n.words["Func"] = string(declared[1]), string(declared[2])
	if n.kind.coded {
		functions := pythonFunctions.FindSubmatch(text)
		if functions == nil {
			return nil, cli.Hinted(fmt.Errorf("%s does not import azure.functions", file), "add the line: import azure.functions as func")
		}
		n.words["Func"] = string(functions[1])
	}
	whole := withImport(strings.TrimRight(string(text), "\r\n")+"\n\n\n"+n.fill(n.section("function.python.tmpl")), "logging", pythonLogging)
	added := &addition{changes: []change{{file, whole, made}}}
	if n.kind.coded {
		added.changes[0].text = withImport(whole, "azure.durable_functions as df", pythonDurable)
		if err := added.require(a.Dir, "azure-functions-durable"); err != nil {
			return nil, err
		}
	}
	return added, nil
}

// require adds a package to requirements.txt.
func (added *addition) require(dir, name string) error {
	const file = "requirements.txt"
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	added.before = "python -m pip install -r " + file
	if regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\b`).Match(text) {
		return nil
	}
	before := strings.TrimRight(string(text), "\r\n")
	if before != "" {
		before += "\n"
	}
	added.changes = append(added.changes, change{file, before + name + "\n", err != nil})
	return nil
}

// withImport is a module that imports another one: what stands in its own description counts
// for nothing.
func withImport(module, imported string, is *regexp.Regexp) string {
	from := len(pythonDescription.FindString(module))
	code := module[from:]
	if is.MatchString(code) {
		return module
	}
	at := 0
	if first := pythonImport.FindStringIndex(code); first != nil {
		at = first[0]
	}
	return module[:from] + code[:at] + "import " + imported + "\n" + code[at:]
}

var (
	pythonApp     = regexp.MustCompile(`(?m)^(\w+)\s*(?::[^=\n]*)?=\s*([\w.]+)\.(?:FunctionApp|AsgiFunctionApp|WsgiFunctionApp|DFApp)\(`)
	pythonLogging = regexp.MustCompile(`(?m)^import logging\b`)
	pythonDurable = regexp.MustCompile(`(?m)^import azure\.durable_functions as df\b`)
	// pythonFunctions has the name that a module gives azure.functions.
	pythonFunctions = regexp.MustCompile(`(?m)^import azure\.functions as (\w+)`)
	// pythonDescription is the description that a module begins with, after comments.
	pythonDescription = regexp.MustCompile(`(?s)\A(?:\s*#[^\n]*\n)*\s*(?:""".*?"""|'''.*?''')[^\n]*\n`)
	// pythonImport is the first import that may have another one before it.
	pythonImport = regexp.MustCompile(`(?m)^(import [a-z]|from [a-z.]+ import)`)
)

// packageFile is what package.json says of an app.
type packageFile struct {
	Main            string            `json:"main"`
	Type            string            `json:"type"`
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
}

// inNode writes the function into a file that "main" of package.json finds, or makes a
// folder for it in an app of function.json files.
func (n *newFunction) inNode(a *app.App) (*addition, error) {
	var pkg packageFile
	text, err := os.ReadFile(filepath.Join(a.Dir, "package.json"))
	if err == nil {
		if err := json.Unmarshal([]byte(strings.TrimPrefix(string(text), "\uFEFF")), &pkg); err != nil {
			return nil, fmt.Errorf("cannot read package.json: %w", err)
		}
	}
	library, has := pkg.Dependencies["@azure/functions"]
	if n.kind.coded && (!has || pkg.Main == "" || len(a.Functions) > 0 || strings.HasPrefix(strings.TrimLeft(library, "^~>=v "), "3")) {
		return nil, cli.Hinted(fmt.Errorf("new writes a function of kind %s in code, and this app has a function.json for each", n.kind.name), "redeliver init --lang javascript writes an app with functions in code")
	}
	if !has || pkg.Main == "" || len(a.Functions) > 0 || strings.HasPrefix(strings.TrimLeft(library, "^~>=v "), "3") {
		form := "module.exports = "
		if pkg.Type == "module" {
			form = "export default "
		}
		script := form + n.section("function.classic.tmpl")
		return &addition{changes: []change{{n.name + "/index.js", script, true}, {n.name + "/function.json", n.functionFile("res"), true}}}, nil
	}
	entry := entryOf(a.Dir, pkg.Main)
	extension, before := path.Ext(entry.file), ""
	modules := pkg.Type == "module" && extension != ".cjs" || extension == ".mjs"
	_, typed := pkg.DevDependencies["typescript"]
	if out, root, ok := compilerFolders(a.Dir); ok && typed {
		below, inside := strings.CutPrefix(entry.file, out)
		if !inside {
			return nil, cli.Hinted(fmt.Errorf("\"main\" of package.json names %q, which is not in the folder %q that tsc writes", pkg.Main, out), "correct \"main\", or outDir in tsconfig.json")
		}
		entry.file = strings.TrimSuffix(root+below, extension) + map[string]string{".js": ".ts", ".mjs": ".mts", ".cjs": ".cts"}[extension]
		if _, has := pkg.Scripts["build"]; has {
			before = "npm run build"
		}
	} else {
		typed = false
	}
	folder := path.Dir(entry.file)
	if err := n.unused(filepath.Join(a.Dir, filepath.FromSlash(folder)), ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"); err != nil {
		return nil, err
	}
	own := path.Join(folder, n.name+path.Ext(entry.file))
	if _, has := pkg.Dependencies["durable-functions"]; n.kind.coded && !has {
		before = strings.TrimSuffix("npm install durable-functions && "+before, " && ")
	}
	added := &addition{before: before, changes: []change{{own, n.nodeScript(typed, modules || typed), true}}}
	if entry.pattern {
		return added, nil
	}
	main, err := os.ReadFile(filepath.Join(a.Dir, filepath.FromSlash(entry.file)))
	if err != nil {
		return nil, cli.Hinted(fmt.Errorf("\"main\" of package.json names %q, and there is no %s", pkg.Main, entry.file), "write that file, or correct \"main\"")
	}
	added.changes = append(added.changes, change{file: entry.file, text: strings.TrimRight(string(main), "\n") + "\n\n" + n.mention(path.Base(own), extension, modules, typed)})
	return added, nil
}

// mention is the line with which the entry of an app loads the function's file.
func (n *newFunction) mention(file, extension string, modules, typed bool) string {
	switch {
	case modules:
		return fmt.Sprintf("import './%s';\n", n.name+extension)
	case typed:
		return fmt.Sprintf("import './%s';\n", n.name)
	}
	return fmt.Sprintf("require('./%s');\n", file)
}

// nodeScript is a file that declares the function.
func (n *newFunction) nodeScript(typed, modules bool) string {
	body := n.section("function.node.tmpl")
	names := []string{"app"}
	if typed {
		body = onlyTyped.ReplaceAllString(body, "$1")
		for _, name := range []string{"EventGridEvent", "HttpRequest", "HttpResponse", "HttpResponseInit", "InvocationContext", "Timer"} {
			if regexp.MustCompile(`\b` + name + `\b`).MatchString(body) {
				names = append(names, name)
			}
		}
	} else {
		body = onlyTyped.ReplaceAllString(body, "")
	}
	imports := [][2]string{{"{ " + strings.Join(names, ", ") + " }", "@azure/functions"}}
	if n.kind.coded {
		imports = append(imports, [2]string{"df", "durable-functions"})
	}
	head := ""
	for _, i := range imports {
		switch {
		case !modules:
			head += fmt.Sprintf("const %s = require('%s');\n", i[0], i[1])
		case typed && i[0] == "df":
			head += fmt.Sprintf("import * as %s from '%s';\n", i[0], i[1])
		default:
			head += fmt.Sprintf("import %s from '%s';\n", i[0], i[1])
		}
	}
	return head + "\n" + n.fill(body)
}

// onlyTyped matches the parts of a template that are for TypeScript: "{{: Timer}}".
var onlyTyped = regexp.MustCompile(`\{\{([:! ][^}]*)\}\}`)

// entry is a place for a script that "main" of package.json finds.
type entry struct {
	file    string // below the app, with slashes; of a pattern any file that it matches
	pattern bool
}

// entryOf is the place of a new script: beside the file that "main" names, or where its
// pattern matches any name.
func entryOf(dir, main string) entry {
	main = strings.TrimPrefix(path.Clean(filepath.ToSlash(main)), "./")
	for _, one := range alternatives(main) {
		folder, name := path.Split(one)
		if i := strings.Index(folder, "**"); i >= 0 && !strings.ContainsAny(folder[:i]+folder[i+2:], "*?[") {
			folder = path.Dir(folder[:i] + "x")
		}
		if strings.HasPrefix(name, "*.") && !strings.ContainsAny(folder+name[1:], "*?[") {
			return entry{path.Join(folder, "index"+name[1:]), true}
		}
	}
	if path.Ext(main) == "" {
		for _, end := range []string{".js", ".cjs", ".mjs", "/index.js"} {
			if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(main+end))); err == nil && !info.IsDir() {
				return entry{file: main + end}
			}
		}
	}
	return entry{file: main}
}

// alternatives writes a pattern with {a,b} as several without.
func alternatives(pattern string) []string {
	inner := braces.FindStringSubmatchIndex(pattern)
	if inner == nil {
		return []string{pattern}
	}
	var out []string
	for part := range strings.SplitSeq(pattern[inner[2]:inner[3]], ",") {
		out = append(out, alternatives(pattern[:inner[0]]+part+pattern[inner[1]:])...)
	}
	return out
}

var braces = regexp.MustCompile(`\{([^{}]*)\}`)

// compilerFolders are the folders that tsconfig.json names, with a slash at the end: of
// the output, and of the sources. The file may hold comments.
func compilerFolders(dir string) (out, root string, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, "tsconfig.json"))
	if err != nil {
		return "", "", false
	}
	find := func(name string) string {
		m := regexp.MustCompile(`"` + name + `"\s*:\s*"([^"]*)"`).FindSubmatch(text)
		if m == nil {
			return ""
		}
		return strings.TrimPrefix(path.Clean(string(m[1]))+"/", "./")
	}
	if out = find("outDir"); out == "" {
		return "", "", true // beside the sources
	}
	if root = find("rootDir"); root == "" && !strings.Contains(string(text), `"rootDir"`) {
		// tsc takes the folder that holds all sources.
		if sources, _ := filepath.Glob(filepath.Join(dir, "*.ts")); len(sources) == 0 {
			root = "src/"
		}
	}
	return out, root, true
}

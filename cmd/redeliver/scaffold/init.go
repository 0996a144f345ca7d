package scaffold

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
)

//go:embed newapp
var newApp embed.FS

// newFile is a file of an app that init writes, and its template. Both may hold {{.Name}}.
type newFile struct{ name, template string }

// newLanguage has the files that init writes for one language, and the command to run
// before the start.
type newLanguage struct {
	files []newFile
	next  string // a command; empty: nothing
}

// spellings are other names of these languages, in lower case.
var spellings = map[string]string{ // read only
	"csharp": "dotnet", "cs": "dotnet", "c#": "dotnet", "dotnet-isolated": "dotnet", "dotnetisolated": "dotnet",
	"javascript": "node", "js": "node", "ts": "typescript", "py": "python", "golang": "go",
}

// NewLanguages are the apps that init writes.
var NewLanguages = map[string]newLanguage{ // read only
	"go": {files: []newFile{
		{"main.go", "main.go.tmpl"}, {"host.json", "host.json.tmpl"}, {"local.settings.json", "local.settings.json.tmpl"}, {".gitignore", "gitignore.tmpl"},
	}},
	"node": {next: "npm install", files: []newFile{
		{"src/app.js", "app.js.tmpl"}, {"package.json", "package.json.tmpl"},
		{"host.json", "host.json.tmpl"}, {"local.settings.json", "local.settings.node.tmpl"}, {".gitignore", "gitignore.node.tmpl"},
	}},
	"typescript": {next: "npm install && npm run build", files: []newFile{
		{"src/app.ts", "app.ts.tmpl"}, {"package.json", "package.ts.json.tmpl"}, {"tsconfig.json", "tsconfig.json.tmpl"},
		{"host.json", "host.json.tmpl"}, {"local.settings.json", "local.settings.node.tmpl"}, {".gitignore", "gitignore.ts.tmpl"},
	}},
	"java": {next: "mvn package", files: []newFile{
		{"src/main/java/com/example/Functions.java", "Functions.java.tmpl"}, {"pom.xml", "pom.xml.tmpl"},
		{"host.json", "host.json.tmpl"}, {"local.settings.json", "local.settings.java.tmpl"}, {".gitignore", "gitignore.java.tmpl"},
	}},
	"dotnet": {files: []newFile{
		{"{{.Name}}.csproj", "app.csproj.tmpl"}, {"Program.cs", "Program.cs.tmpl"}, {"Functions.cs", "Functions.cs.tmpl"},
		{"tests/Tests.csproj", "tests.csproj.tmpl"}, {"tests/HostTests.cs", "HostTests.cs.tmpl"},
		{"host.json", "host.json.tmpl"}, {"local.settings.json", "local.settings.dotnet.tmpl"}, {".gitignore", "gitignore.dotnet.tmpl"},
	}},
	"python": {files: []newFile{
		{"function_app.py", "function_app.py.tmpl"}, {"requirements.txt", "requirements.txt.tmpl"},
		{"host.json", "host.json.tmpl"}, {"local.settings.json", "local.settings.python.tmpl"}, {".gitignore", "gitignore.python.tmpl"},
	}},
	"custom": {files: []newFile{
		{"handler.py", "handler.py.tmpl"}, {"PlaceOrder/function.json", "PlaceOrder.custom.tmpl"},
		{"ProcessOrder/function.json", "ProcessOrder.custom.tmpl"}, {"Heartbeat/function.json", "Heartbeat.custom.tmpl"},
		{"host.json", "host.custom.tmpl"}, {"local.settings.json", "local.settings.custom.tmpl"}, {".gitignore", "gitignore.python.tmpl"},
	}},
}

// newNames are the languages of apps that init writes, for people.
const newNames = "go, node, typescript, python, java, dotnet or custom"

// NewInit returns the command that writes a new app.
func NewInit(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var lang, replace string
	var vscode bool
	cmd := &cobra.Command{
		Use:   "init DIR --lang LANGUAGE",
		Short: "Write a small app to start from",
		Long: `Init writes a complete app into DIR, which is made when needed: an HTTP function
that puts orders on a queue, a queue function that fails for {"fail": true}, a
timer, and a retry policy, in Go, JavaScript, TypeScript, Python, Java or C#
(.NET isolated, with a test project), or as a custom handler: a program that
answers HTTP requests, here in Python without any library. order.scenario.yaml
is for "redeliver test". If one of the files exists already, nothing is written.

With --vscode it writes .vscode/tasks.json and .vscode/launch.json too: to start
the app, to attach a debugger with time standing still in handlers, and to run
tests. In the folder of an app, without --lang, it writes these two alone.

As long as the module ` + cli.ModulePath + ` is not published, a
development build of redeliver writes a replace line for its own source into
go.mod; --replace names another place.`,
		Example: `  redeliver init shop --lang go
  redeliver init shop --lang python
  redeliver init --vscode`,
		Args: func(cmd *cobra.Command, args []string) error {
			if vscode && lang == "" {
				return cli.Arguments(0, 1)(cmd, args)
			}
			return cli.Arguments(1, 1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if vscode && lang == "" {
				return addEditor(r, append(args, ".")[0])
			}
			lang, err := knownLanguage(lang, args[0])
			if err != nil {
				return err
			}
			if err := addApp(cmd.Context(), std, args[0], lang, replace, vscode); err != nil {
				return err
			}
			next := sayNext(cli.NewConsole(std, true), lang, args[0])
			return r.Say(map[string]any{"folder": args[0], "next": next}, cli.Textf("wrote an app to %s\n", args[0]))
		},
	}
	cmd.Flags().BoolVar(&r.AsJSON, "json", false, "write the answer as JSON")
	cmd.Flags().StringVar(&lang, "lang", "", "language of the functions: "+newNames)
	cmd.Flags().BoolVar(&vscode, "vscode", false, "write the tasks and the launch configurations of Visual Studio Code")
	cmd.Flags().StringVar(&replace, "replace", "", "folder of the redeliver module, for the replace line of go.mod")
	return cmd
}

// addApp writes an app in a language, with the files for the editor when they are wanted.
func addApp(ctx context.Context, std cli.Streams, dir, lang, replace string, vscode bool) error {
	var src source
	var more map[string]string
	if vscode {
		more = vscodeFiles(lang)
	}
	if lang == "go" {
		var err error
		if src, err = moduleSource(replace); err != nil {
			return err
		}
	}
	if err := writeApp(dir, lang, src, more); err != nil {
		return err
	}
	if lang == "go" {
		tidy(ctx, dir, src, cli.NewConsole(std, true))
	}
	return nil
}

// knownLanguage is a language by its name in NewLanguages.
func knownLanguage(lang, dir string) (string, error) {
	lang = strings.ToLower(lang)
	if usual := spellings[lang]; usual != "" {
		lang = usual
	}
	_, known := NewLanguages[lang]
	switch {
	case lang == "fsharp" || lang == "f#" || lang == "fs":
		return "", cli.Misused(errors.New("init writes no app in F#: \"func init --worker-runtime dotnet-isolated --language F#\" of Core Tools writes one, and redeliver start builds and runs it as one in C#"))
	case lang == "powershell":
		return "", cli.Misused(errors.New(`init writes no app in PowerShell: "func init --powershell" of Core Tools writes one, and redeliver start runs it with the worker of Core Tools`))
	case lang == "":
		return "", cli.Hinted(cli.Misused(errors.New("--lang is missing")), "redeliver init "+dir+" --lang go")
	case !known:
		return "", cli.Mistaken(fmt.Errorf("--lang %q: want %s", lang, newNames), lang, slices.Collect(maps.Keys(NewLanguages)))
	}
	return lang, nil
}

// sayNext names the commands that come next, and returns those of every language.
func sayNext(out *cli.Console, lang, dir string) []string {
	if lang == "dotnet" {
		out.Hint("tests: " + cli.CommandFor("test", dir) + ", or in " + filepath.Join(dir, "tests") + ": dotnet test")
	}
	if before := NewLanguages[lang].next; before != "" {
		out.Hint("run in " + dir + ": " + before)
	}
	next := firstCommands(dir)
	for _, command := range next {
		out.Hint(command)
	}
	return next
}

// firstCommands are what to type once there is an app in dir: run it, let a message fail, and
// see what became of it.
func firstCommands(dir string) []string {
	at := ""
	if filepath.Clean(dir) != "." {
		at = " --dir " + cli.ShellWord(dir)
	}
	return []string{
		cli.CommandFor("start", dir), `redeliver send queue orders '{"id":"7","fail":true}'` + at, "redeliver explain" + at, "redeliver ui" + at, cli.CommandFor("test", dir),
	}
}

// source is where an app takes the redeliver module from: a release, or a folder.
type source struct {
	version string // of a release; empty for a folder
	dir     string // absolute path of the module's source
}

// moduleSource finds the module that this program was built from. replace, when
// not empty, names the folder.
func moduleSource(replace string) (source, error) {
	if replace != "" {
		dir, err := filepath.Abs(replace)
		if err != nil {
			return source{}, err
		}
		if !isModule(dir) {
			return source{}, fmt.Errorf("--replace %q: the folder does not hold the module %s", replace, cli.ModulePath)
		}
		return source{dir: dir}, nil
	}
	if v := cli.Version(); v != cli.DevelVersion {
		return source{version: "v" + v}, nil
	}
	// The compiler wrote down where this file is, unless it was told to trim.
	_, file, _, _ := runtime.Caller(0)
	if dir := filepath.Join(filepath.Dir(file), "..", "..", ".."); filepath.IsAbs(dir) && isModule(dir) {
		return source{dir: dir}, nil
	}
	return source{}, cli.Hinted(errors.New("this is a development build, and its source folder is gone"),
		"name the folder of the redeliver source with --replace")
}

// isModule reports whether dir holds the redeliver module.
func isModule(dir string) bool {
	text, err := readLines(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(text, "module "+cli.ModulePath+"\n")
}

// readLines reads a text file with the line ends of Unix: git may have given it the
// line ends of Windows.
func readLines(file string) (string, error) {
	text, err := os.ReadFile(file)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// writeApp writes the app's files into dir, all of them or none.
func writeApp(dir, lang string, src source, more map[string]string) error {
	name, err := appName(dir, lang)
	if err != nil {
		return err
	}
	files := maps.Clone(more)
	if files == nil {
		files = map[string]string{}
	}
	for _, f := range append(slices.Clone(NewLanguages[lang].files), newFile{"order.scenario.yaml", "order.scenario.tmpl"}) {
		text, err := newApp.ReadFile("newapp/" + f.template)
		if err != nil { // a template of ours
			panic(err)
		}
		// Package text/template would keep the methods of every type in the binary.
		files[strings.ReplaceAll(f.name, "{{.Name}}", name)] = strings.ReplaceAll(string(text), "{{.Name}}", name)
	}
	if lang == "go" {
		if files["go.mod"], files["go.sum"], err = moduleFiles(name, src); err != nil {
			return err
		}
	}
	return writeNew(dir, files)
}

// writeNew writes files into a folder that has none of them.
func writeNew(dir string, files map[string]string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%q is not a folder", dir)
	}
	for file := range files {
		if _, err := os.Lstat(filepath.Join(dir, file)); !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return fmt.Errorf("cannot read %q: %w", filepath.Join(dir, file), cli.Reason(err))
			}
			return cli.Hinted(fmt.Errorf("%q already exists", filepath.Join(dir, file)), "init writes into an empty folder, or one without any of its files")
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make folder %q: %w", dir, cli.Reason(err))
	}
	for file, text := range files {
		if text == "" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("cannot make folder %q: %w", filepath.Dir(path), cli.Reason(err))
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// notModule matches characters that a module path cannot hold, and that other names of
// apps do not need.
var notModule = regexp.MustCompile(`[^a-z0-9._-]+`)

// appName makes the name of an app of the folder's name: a module path in Go.
func appName(dir, lang string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := strings.Trim(notModule.ReplaceAllString(strings.ToLower(filepath.Base(abs)), "-"), "-.")
	if name == "" {
		name = "app"
	}
	if why := takenModule(name); why != "" && lang == "go" {
		return "", cli.Hinted(fmt.Errorf("%q cannot be the name of a module: %s", name, why), "choose another folder, for instance "+cli.ShellWord(filepath.Join(filepath.Dir(dir), name+"-app")))
	}
	return name, nil
}

// takenModule says why no module can have that path; empty when one can.
func takenModule(name string) string {
	switch name {
	case "all", "cmd", "std", "tool", "work", "go", "toolchain":
		return "the go command gives the name a meaning of its own"
	case "bufio", "builtin", "bytes", "cmp", "context", "crypto", "embed", "errors", "expvar", "flag", "fmt", "hash", "html", "image", "io",
		"iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv",
		"strings", "structs", "sync", "syscall", "testing", "time", "unicode", "unique", "unsafe", "weak":
		return "the standard library has a package of this name"
	}
	if windowsDevice.MatchString(name) {
		return "it is a device on Windows"
	}
	return ""
}

// windowsDevice matches the names that Windows keeps for devices, which the go command
// refuses on every system.
var windowsDevice = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// requirement matches a line of a require block.
var requirement = regexp.MustCompile(`(?m)^\t(\S+ v\S+)(?: // indirect)?$`)

// splitModule is the version of a module from before it was split in several.
const splitModule = "google.golang.org/genproto v0.0.0-20230410155749-daa745c078e1"

// moduleFiles makes go.mod and go.sum. With the module in a folder they
// list all its requirements, so that the app builds without the network
// from the module cache that built this program.
func moduleFiles(name string, src source) (mod, sum string, err error) {
	if src.dir == "" {
		return fmt.Sprintf("module %s\n\ngo %s\n\nrequire %s %s\n", name, goVersion(), cli.ModulePath, src.version), "", nil
	}
	text, err := readLines(filepath.Join(src.dir, "go.mod"))
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo %s\n\nrequire %s v0.0.0\n\nrequire (\n", name, goLine(text), cli.ModulePath)
	b.WriteString("\t// The requirements of redeliver itself; \"go mod tidy\" removes the ones that this app does not use.\n")
	for _, m := range requirement.FindAllStringSubmatch(text, -1) {
		fmt.Fprintf(&b, "\t%s // indirect\n", m[1])
	}
	// Without this an app in a workspace does not build: there the go command reads what
	// every library asks for, and that version holds packages that have since moved.
	b.WriteString(")\n\n// A library requires it; in a workspace its packages would be found twice.\nexclude " + splitModule + "\n")
	fmt.Fprintf(&b, "\n// %s is not published yet: this is the source that redeliver was built from.\nreplace %s => %s\n",
		cli.ModulePath, cli.ModulePath, quotePath(src.dir))
	sums, err := readLines(filepath.Join(src.dir, "go.sum"))
	return b.String(), sums, err
}

func quotePath(path string) string {
	if strings.ContainsAny(path, " \t\"'`()[]{},;") {
		return "`" + path + "`"
	}
	return path
}

var goDirective = regexp.MustCompile(`(?m)^go (\S+)$`)

// goLine is the version of a go.mod's go directive.
func goLine(mod string) string {
	if m := goDirective.FindStringSubmatch(mod); m != nil {
		return m[1]
	}
	return goVersion()
}

func goVersion() string {
	v, _, _ := strings.Cut(strings.TrimPrefix(runtime.Version(), "go"), " ")
	return v
}

// tidy fetches what a release of the module needs. Without the network that is
// left to the developer.
func tidy(ctx context.Context, dir string, src source, out *cli.Console) {
	if src.version == "" {
		return // go.mod and go.sum are complete
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
	cmd.Dir = dir
	if cmd.Run() != nil {
		out.Hint("run in " + dir + ": go mod tidy")
	}
}

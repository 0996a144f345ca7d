package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app"
)

// workerPackage begins the names of the packages for isolated .NET.
const workerPackage = "Microsoft.Azure.Functions.Worker.Extensions."

// dotnetPackages are the packages that triggers need, with their versions.
var dotnetPackages = map[string][2]string{ // read only
	"http": {"Http", "3.3.0"}, "timer": {"Timer", "4.3.1"}, "queue": {"Storage.Queues", "5.5.5"}, "blob": {"Storage.Blobs", "6.8.2"},
	"servicebus-queue": {"ServiceBus", "5.24.0"}, "servicebus-topic": {"ServiceBus", "5.24.0"}, "eventgrid": {"EventGrid", "3.6.0"},
	"eventhub": {"EventHubs", "6.5.1"}, "cosmos": {"CosmosDB", "4.16.1"},
}

// aspNetPackage is the package of a project whose HTTP functions get and give what ASP.NET
// Core has; it brings the package for HTTP.
const aspNetPackage = "Http.AspNetCore"

// refersTo reports whether the text of a project names a package for the worker.
func refersTo(project []byte, name string) bool {
	return strings.Contains(strings.ToLower(string(project)), `"`+strings.ToLower(workerPackage+name)+`"`)
}

// inDotnet writes a class with the function beside those that the project has, and has
// the project refer to the package of its trigger.
func (n *newFunction) inDotnet(a *app.App) (*addition, error) {
	projects, err := filepath.Glob(filepath.Join(a.Dir, "*.csproj"))
	switch {
	case err != nil:
		return nil, err
	case len(projects) == 0:
		if other, _ := filepath.Glob(filepath.Join(a.Dir, "*.fsproj")); len(other) > 0 {
			return nil, errors.New("the project " + filepath.Base(other[0]) + " is in F#, and new writes C# for .NET only")
		}
		return nil, cli.Hinted(errors.New("the folder holds no project in C#: there is no .csproj"), "run redeliver new in the folder of the sources")
	case len(projects) > 1:
		return nil, cli.Hinted(errors.New("the folder holds several project files"), "keep one project in each folder")
	}
	space, folder, err := dotnetNamespace(a.Dir)
	if err != nil {
		return nil, err
	}
	if err := n.unused(filepath.Join(a.Dir, filepath.FromSlash(folder)), ".cs"); err != nil {
		return nil, err
	}
	template := "function.dotnet.tmpl"
	if text, err := os.ReadFile(projects[0]); err == nil && n.kind.name == "http" && refersTo(text, aspNetPackage) {
		template = "function.aspnet.tmpl"
	}
	usings := []string{"using Microsoft.Azure.Functions.Worker;", "using Microsoft.Extensions.Logging;"}
	var body []string
	for line := range strings.Lines(n.fill(n.section(template))) {
		if strings.HasPrefix(line, "using ") {
			usings = append(usings, strings.TrimSuffix(line, "\n"))
		} else {
			body = append(body, line)
		}
	}
	slices.SortFunc(usings, systemFirst)
	class := goName(n.name)
	text := strings.Join(usings, "\n") + "\n\n"
	if space != "" {
		text += "namespace " + space + ";\n\n"
	}
	text += "public class " + class + "(ILogger<" + class + "> logger)\n{\n    [Function(\"" + n.name + "\")]\n" + strings.Join(body, "") + "}\n"
	added := &addition{changes: []change{{path.Join(folder, class+".cs"), text, true}}}
	return added, n.needPackage(projects[0], added)
}

// systemFirst orders using directives as usual.
func systemFirst(a, b string) int {
	if x, y := strings.HasPrefix(a, "using System"), strings.HasPrefix(b, "using System"); x != y {
		if x {
			return -1
		}
		return 1
	}
	return strings.Compare(strings.TrimSuffix(a, ";"), strings.TrimSuffix(b, ";"))
}

var (
	// dotnetReference matches a line that refers to a package with a version.
	dotnetReference = regexp.MustCompile(`(?m)^([ \t]*)<PackageReference\s+Include="[^"]*"\s+Version="[^"]*"\s*/>[ \t]*(\r?\n)`)
	// dotnetFunction and dotnetSpace match a function's attribute and a namespace.
	dotnetFunction = regexp.MustCompile(`\[Function\(`)
	dotnetSpace    = regexp.MustCompile(`(?m)^\s*namespace\s+([\w.]+)`)
)

// needPackage has the project refer to the package of the trigger, unless it does. A
// project that has its versions elsewhere is left to the user.
func (n *newFunction) needPackage(project string, added *addition) error {
	text, err := os.ReadFile(project)
	if err != nil {
		return err
	}
	name, version := workerPackage+dotnetPackages[n.kind.name][0], dotnetPackages[n.kind.name][1]
	if refersTo(text, dotnetPackages[n.kind.name][0]) || n.kind.name == "http" && refersTo(text, aspNetPackage) {
		return nil
	}
	lines := dotnetReference.FindAllSubmatchIndex(text, -1)
	if lines == nil {
		added.before = "dotnet add package " + name + " --version " + version
		return nil
	}
	last := lines[len(lines)-1]
	line := string(text[last[2]:last[3]]) + `<PackageReference Include="` + name + `" Version="` + version + `" />` + string(text[last[4]:last[5]])
	added.changes = append(added.changes, change{file: filepath.Base(project), text: string(text[:last[1]]) + line + string(text[last[1]:])})
	return nil
}

// dotnetNamespace is the namespace of the first source file that has functions, and its
// folder below the project's, with slashes. Without one the namespace is App.
func dotnetNamespace(dir string) (space, folder string, err error) {
	space, folder = "App", "."
	err = filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && file != dir && (e.Name() == "bin" || e.Name() == "obj" || strings.HasPrefix(e.Name(), ".")) {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() || filepath.Ext(file) != ".cs" {
			return nil // what cannot be read has no function
		}
		text, err := os.ReadFile(file)
		if err != nil || !dotnetFunction.Match(text) {
			return nil
		}
		below, err := filepath.Rel(dir, filepath.Dir(file))
		if err != nil {
			return err
		}
		space, folder = "", filepath.ToSlash(below)
		if m := dotnetSpace.FindSubmatch(text); m != nil {
			space = string(m[1])
		}
		return fs.SkipAll
	})
	return space, folder, err
}

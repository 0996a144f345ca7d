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

// inJava writes a class with the function beside those that the project has.
func (n *newFunction) inJava(a *app.App) (*addition, error) {
	const sources = "src/main/java"
	before := ""
	for _, build := range []struct{ file, command string }{
		{"pom.xml", "mvn package"}, {"build.gradle", "gradle azureFunctionsPackage"}, {"build.gradle.kts", "gradle azureFunctionsPackage"},
	} {
		if _, err := os.Stat(filepath.Join(a.Dir, build.file)); err == nil && before == "" {
			before = build.command
		}
	}
	if before == "" {
		return nil, cli.Hinted(errors.New("the folder holds no project in Java: there is no pom.xml and no build.gradle"), "run redeliver new in the folder of the sources")
	}
	in, err := javaPackage(filepath.Join(a.Dir, filepath.FromSlash(sources)))
	if err != nil {
		return nil, err
	}
	folder := path.Join(sources, strings.ReplaceAll(in, ".", "/"))
	if err := n.unused(filepath.Join(a.Dir, filepath.FromSlash(folder)), ".java"); err != nil {
		return nil, err
	}
	imports := []string{"import com.microsoft.azure.functions.ExecutionContext;", "import com.microsoft.azure.functions.annotation.FunctionName;"}
	var body []string
	for line := range strings.Lines(n.fill(n.section("function.java.tmpl"))) {
		if strings.HasPrefix(line, "import ") {
			imports = append(imports, strings.TrimSuffix(line, "\n"))
		} else {
			body = append(body, line)
		}
	}
	slices.Sort(imports)
	text := strings.Join(imports, "\n") + "\n\npublic class " + goName(n.name) + " {\n    @FunctionName(\"" + n.name + "\")\n" + strings.Join(body, "") + "}\n"
	if in != "" {
		text = "package " + in + ";\n\n" + text
	}
	return &addition{before: before, changes: []change{{path.Join(folder, goName(n.name)+".java"), text, true}}}, nil
}

var (
	javaFunction = regexp.MustCompile(`@FunctionName\b`)
	javaPackaged = regexp.MustCompile(`(?m)^\s*package\s+([\w.]+)\s*;`)
)

// javaPackage is the package of the first source file that has functions, com.example when
// there is none.
func javaPackage(sources string) (found string, err error) {
	found = "com.example"
	err = filepath.WalkDir(sources, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(file) != ".java" {
			return nil // what cannot be read has no function
		}
		text, err := os.ReadFile(file)
		if err != nil || !javaFunction.Match(text) {
			return nil
		}
		found = ""
		if m := javaPackaged.FindSubmatch(text); m != nil {
			found = string(m[1])
		}
		return fs.SkipAll
	})
	return found, err
}

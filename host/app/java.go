package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// A javaBuild is a tool that builds apps in Java: what shows it, and where it writes the
// app that runs (spec workers-dotnet-java 2.1).
type javaBuild struct {
	file    string
	signs   []string
	folder  string // below it, one folder for each app
	command string
}

var javaBuilds = []javaBuild{ // read only
	{"pom.xml", []string{"azure-functions-maven-plugin", "azure-functions-java-library"}, "target/azure-functions", "mvn package"},
	{"build.gradle", []string{"azurefunctions", "azure-functions-java-library"}, "build/azure-functions", "gradle azureFunctionsPackage"},
	{"build.gradle.kts", []string{"azurefunctions", "azure-functions-java-library"}, "build/azure-functions", "gradle azureFunctionsPackage"},
}

// javaApp recognises the project of an app in Java. Its functions are in the folder that
// the build writes, each with a function.json.
func javaApp(dir string, _ *appsettings.Settings) *language {
	for _, b := range javaBuilds {
		if !contains(filepath.Join(dir, b.file), b.signs...) {
			continue
		}
		return &language{runtime: "java", words: "Java", sign: b.file, root: newestApp(filepath.Join(dir, filepath.FromSlash(b.folder)))}
	}
	return nil
}

// unbuiltJava says that the build of a project is missing.
func unbuiltJava(found *language) *schemas.Fault {
	b := javaBuilds[slices.IndexFunc(javaBuilds, func(b javaBuild) bool { return b.file == found.sign })]
	return &schemas.Fault{
		File: b.file, Reason: fmt.Sprintf("the app has not been built: no folder below %s holds %s", b.folder, document.HostFile), Hint: "run " + strconv.Quote(b.command),
	}
}

// newestApp is the newest of the folders in one that hold an app, "" for none.
func newestApp(folder string) (newest string) {
	entries, _ := os.ReadDir(folder) // nothing is built before it is there
	var changed time.Time
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.IsDir() && isFile(folder, e.Name(), document.HostFile) && (newest == "" || info.ModTime().After(changed)) {
			newest, changed = filepath.Join(folder, e.Name()), info.ModTime()
		}
	}
	return newest
}

// builtByOthers are the folders of a project in Java that hold nothing of the app that
// runs: what compilers write there changes with each build, and counts when it is packaged.
var builtByOthers = []string{ // read only
	"src", "classes", "test-classes", "generated-sources", "generated-test-sources", "maven-archiver", "maven-status", "surefire-reports",
	"libs", "tmp", ".mvn", ".gradle", ".idea",
}

func javaLeaves(name string) bool { return slices.Contains(builtByOthers, name) }

// functionsFolder is the folder of the functions, relative to the app's.
func (l *reading) functionsFolder() string {
	if relative, err := filepath.Rel(l.app.Dir, l.app.Handler.Root); err == nil && l.app.Handler.Root != "" {
		return relative
	}
	return "."
}

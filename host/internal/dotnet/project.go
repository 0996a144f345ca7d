// Package dotnet knows the projects of .NET in an app's folder: whose they are, of which
// files they are built, and how `dotnet` builds them into a folder for one generation of
// the app (spec workers-dotnet-java 1.1, 1.2, 1.13).
//
// Start with [Find], [Read] and [Build]. A project file is read as text, for what the
// platform's tool looks for in it; what else it means is for `dotnet` to say.
package dotnet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Model is what a project is for.
type Model int

// The models.
const (
	Other     Model = iota // no functions
	Isolated               // functions in a process of their own
	InProcess              // functions in the process of the platform's host
	Test                   // tests
)

// Project is a project file.
type Project struct {
	// Path is absolute.
	Path  string
	Model Model
	// Sign is what in the file says so, "package X".
	Sign string
}

// Name is the name of the file.
func (p Project) Name() string { return filepath.Base(p.Path) }

// signs are what decides, in this order: tests of functions refer to their packages too,
// and a project with both models is one that does not build.
var signs = []struct { // read only
	text  string
	model Model
	words string
}{
	{`"Microsoft.NET.Test.Sdk"`, Test, "package Microsoft.NET.Test.Sdk"},
	{`"Microsoft.Azure.Functions.Worker.Sdk"`, Isolated, "package Microsoft.Azure.Functions.Worker.Sdk"},
	{`"Azure.Functions.Sdk`, Isolated, "Azure.Functions.Sdk"},
	{`"Microsoft.NET.Sdk.Functions"`, InProcess, "package Microsoft.NET.Sdk.Functions"},
}

// mostRead is how much of a project file is looked at.
const mostRead = 1 << 20

// Find returns the project files of a folder, by name.
func Find(dir string) (list []Project) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if end := strings.ToLower(filepath.Ext(e.Name())); !e.IsDir() && (end == ".csproj" || end == ".fsproj") {
			list = append(list, read(filepath.Join(dir, e.Name())))
		}
	}
	slices.SortFunc(list, func(a, b Project) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func read(path string) Project {
	p := Project{Path: path}
	text := strings.ToLower(contentOf(path))
	for _, sign := range signs {
		if strings.Contains(text, strings.ToLower(sign.text)) {
			p.Model, p.Sign = sign.model, sign.words
			break
		}
	}
	return p
}

// contentOf is the beginning of a file, "" when it cannot be read.
func contentOf(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(content[:min(len(content), mostRead)])
}

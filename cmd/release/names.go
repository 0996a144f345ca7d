package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Name is an outward name. Owned says that its owner has confirmed it as this project's:
// until then nothing is published under it, and no page prints a command with it, because
// that command would run somebody else's package.
type Name struct {
	Name  string `json:"name"`
	Owned bool   `json:"owned"`
}

// Names are all outward names, from names.json. Launchers, formula, POM and the install
// block of the README are made from them.
type Names struct {
	NpmCommand   Name `json:"npmCommand"`
	NpmPlatforms Name `json:"npmPlatforms"` // what the names of the packages of one platform begin with
	NpmKit       Name `json:"npmKit"`
	PypiCommand  Name `json:"pypiCommand"`
	PypiKit      Name `json:"pypiKit"`
	NugetKit     Name `json:"nugetKit"`
	NugetProgram Name `json:"nugetProgram"`
	MavenGroup   Name `json:"mavenGroup"`
	Image        Name `json:"image"`
	Tap          Name `json:"tap"` // of Homebrew, and the bucket of Scoop
	Repository   Name `json:"repository"`
}

//go:embed names.json
var namesText []byte // read only

// readNames reads names.json.
func readNames() (n Names, err error) {
	if err := json.Unmarshal(namesText, &n); err != nil {
		return n, fmt.Errorf("names.json: %w", err)
	}
	return n, nil
}

// all lists the names.
func (n Names) all() []Name {
	return []Name{n.NpmCommand, n.NpmPlatforms, n.NpmKit, n.PypiCommand, n.PypiKit, n.NugetKit, n.NugetProgram, n.MavenGroup, n.Image, n.Tap, n.Repository}
}

// unowned are those of the given names that are not the project's.
func (n Names) unowned(given []string) (out []string) {
	for _, name := range n.all() {
		if !name.Owned && slices.ContainsFunc(given, func(g string) bool { return strings.HasPrefix(g, name.Name) }) {
			out = append(out, name.Name)
		}
	}
	return slices.Compact(out)
}

package dotnet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// variables are those of the environment that the platform's own targets and the package
// manager read as properties, in lower case. Others count when a project file names them.
var variables = []string{ // read only
	"configuration", "platform", "targetframework", "targetframeworks", "runtimeidentifier", "selfcontained", "version", "versionprefix", "versionsuffix", "assemblyversion",
	"fileversion", "informationalversion", "defineconstants", "langversion", "nullable", "treatwarningsaserrors", "warningsaserrors", "nowarn", "optimize", "debugtype",
	"debugsymbols", "continuousintegrationbuild", "deterministic", "pathmap", "restoreconfigfile", "restoresources", "restoreadditionalprojectsources", "restorelockedmode",
	"restorepackagespath", "ci", "tf_build", "github_actions", "dotnet_root", "msbuildsdkspath", "azurefunctionsversion", "publishreadytorun", "outputtype",
}

// property matches the use of a property in a project file.
var property = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)[).]`)

// environmentOf stands for what a build takes from its environment: variables, for MSBuild
// makes each of them a property, and the SDKs that are installed.
func (b *build) environmentOf(r *record) string {
	used := map[string]bool{}
	for _, name := range variables {
		used[name] = true
	}
	for _, text := range contentsOf(slices.Collect(maps.Keys(r.Inputs))) {
		for _, found := range property.FindAllStringSubmatch(text, -1) {
			used[strings.ToLower(found[1])] = true
		}
	}
	given := map[string]string{}
	for _, entry := range b.Env {
		name, value, _ := strings.Cut(entry, "=")
		if name = strings.ToLower(name); used[name] || strings.HasPrefix(name, "nuget_") {
			given[name] = value
		}
	}
	program := b.Program
	if found, err := exec.LookPath(program); err == nil {
		program = found
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	sdks, _ := os.ReadDir(filepath.Join(filepath.Dir(program), "sdk")) // none beside a program of another kind
	names := make([]string, len(sdks))
	for i, e := range sdks {
		names[i] = e.Name()
	}
	sum := sha256.Sum256([]byte(fmt.Sprint(given, program, names)))
	return hex.EncodeToString(sum[:8])
}

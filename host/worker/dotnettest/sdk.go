package dotnettest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// RequiredVariable, set to "required", makes tests with a real .NET fail where there is none.
const RequiredVariable = "REDELIVER_DOTNET"

var errNoSDK = errors.New("there is no .NET SDK of version 8 or later here: DOTNET_HOST_PATH, DOTNET_ROOT and PATH were looked at")

// SDK returns the real program dotnet of this machine, found as a host finds it, or why there
// is none. The program of this package is no real one.
var SDK = sync.OnceValues(func() (program string, err error) {
	name := "dotnet"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	candidates := []string{os.Getenv("DOTNET_HOST_PATH"), filepath.Join(os.Getenv("DOTNET_ROOT"), name)}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		candidates = append(candidates, filepath.Join(dir, name))
	}
	for _, path := range candidates {
		if !filepath.IsAbs(path) {
			continue
		}
		out, err := exec.Command(path, "--list-sdks").Output()
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(out)) {
			if major, _, dotted := strings.Cut(line, "."); dotted && (len(major) > 1 || major >= "8") {
				return path, nil
			}
		}
	}
	return "", errNoSDK
})

// Required reports whether a missing SDK is a failure.
func Required() bool { return os.Getenv(RequiredVariable) == "required" }

// Environment is what a build needs of the environment of its user, as "NAME=VALUE".
func Environment() (list []string) {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if upper := strings.ToUpper(name); strings.HasPrefix(upper, "NUGET_") || strings.HasPrefix(upper, "DOTNET_") && upper != "DOTNET_HOST_PATH" && upper != "DOTNET_ROOT" || strings.HasPrefix(upper, "RESTORE") {
			list = append(list, entry)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && os.Getenv("NUGET_PACKAGES") == "" {
		list = append(list, "NUGET_PACKAGES="+filepath.Join(home, ".nuget", "packages"))
	}
	return list
}

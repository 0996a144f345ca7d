package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// ModulePath is the module that handlers import.
const ModulePath = "github.com/redeliver/redeliver"

// What the linker is told of the source: the release, as in "0.4.0"; the commit, as in
// "a1b2c3d", with "-dirty" where something was changed; the commit's day. The Makefile sets
// them, and they are empty without it.
var version, commit, date string

// DevelVersion is the version of a build that is no release.
const DevelVersion = "devel"

// Build is where this program comes from. Fields that are not known are empty.
type Build struct {
	Version   string `json:"version"` // a release, as in "0.4.0", or DevelVersion
	Commit    string `json:"commit,omitempty"`
	Date      string `json:"date,omitempty"` // of the commit
	Go        string `json:"go"`
	System    string `json:"system"`              // as in "linux/amd64"
	Installed string `json:"installed,omitempty"` // by which package manager, as its launcher says
}

// ThisBuild is where this program comes from. A build by "go install" knows its release, and
// one by "go build" in the repository its commit.
func ThisBuild() Build {
	b := Build{Version: DevelVersion, Commit: commit, Date: date, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if isRelease(version) {
		b.Version = strings.TrimPrefix(version, "v")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == DevelVersion && isRelease(info.Main.Version) {
		b.Version = strings.TrimPrefix(info.Main.Version, "v")
	}
	if b.Commit != "" {
		return b
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; len(revision) >= 7 {
		b.Commit = revision[:7]
		b.Date, _, _ = strings.Cut(settings["vcs.time"], "T")
		if settings["vcs.modified"] == "true" {
			b.Commit += "-dirty"
		}
	}
	return b
}

// String is the build in one line, as in "0.4.0 (a1b2c3d, 2026-11-20, go1.26.8, linux/amd64)".
func (b Build) String() string {
	var known []string
	for _, text := range []string{b.Commit, b.Date, b.Go, b.System} {
		if text != "" {
			known = append(known, text)
		}
	}
	return fmt.Sprintf("%s (%s)", b.Version, strings.Join(known, ", "))
}

// Version is the release that this program was built from, or DevelVersion.
func Version() string { return ThisBuild().Version }

// isRelease tells a tagged version from "(devel)", from the pseudo-versions that the go
// command makes of a commit, and from the tag of a source that was changed since.
func isRelease(v string) bool {
	v = strings.TrimPrefix(v, "v")
	return v != "" && v[0] >= '0' && v[0] <= '9' && !strings.HasSuffix(v, "-dirty") && !strings.HasPrefix(v, "0.0.0-") && !strings.Contains(v, "-0.") && !strings.Contains(v, "+")
}

// LongVersion adds the commit to a development version.
func LongVersion() string {
	b := ThisBuild()
	if b.Version != DevelVersion || b.Commit == "" {
		return b.Version
	}
	return b.Version + " " + b.Commit
}

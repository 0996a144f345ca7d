package cli

import (
	"runtime/debug"
	"strings"
)

// ModulePath is the module that handlers import.
const ModulePath = "github.com/redeliver/redeliver"

// stamp is the output of "git describe" for the source; the Makefile sets it.
var stamp string

// DevelVersion is the version of a build that is no release.
const DevelVersion = "devel"

// Version is the release that this program was built from, or "devel".
func Version() string {
	if isRelease(stamp) {
		return stamp
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || !isRelease(info.Main.Version) {
		return DevelVersion
	}
	return info.Main.Version
}

// isRelease tells a tagged version from "(devel)", from the pseudo-versions that the
// go command makes of a commit, and from what "git describe" says of one without a tag.
func isRelease(v string) bool {
	return !strings.Contains(v, "-g") && !strings.HasSuffix(v, "-dirty") && strings.HasPrefix(v, "v") && !strings.HasPrefix(v, "v0.0.0-") && !strings.Contains(v, "-0.") && !strings.Contains(v, "+")
}

// LongVersion adds the commit to a development version.
func LongVersion() string {
	v := Version()
	if v != DevelVersion {
		return v
	}
	if stamp != "" {
		return v + " " + stamp
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return v + " " + s.Value[:12]
			}
		}
	}
	return v
}

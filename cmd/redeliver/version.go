package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// modulePath is the module that handlers import.
const modulePath = "github.com/redeliver/redeliver"

// stamp is the output of "git describe" for the source; the Makefile sets it.
var stamp string

// develVersion is the version of a build that is no release.
const develVersion = "devel"

func newVersion(std streams) *cobra.Command {
	r := &remote{std: std}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.say(map[string]string{"version": longVersion(), "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH}, versionLine())
		},
	}
	cmd.Flags().BoolVar(&r.asJSON, "json", false, "write the answer as JSON")
	return cmd
}

// versionLine is the output of "version" and "--version".
func versionLine() string {
	return fmt.Sprintf("redeliver %s (%s, %s/%s)\n", longVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version is the release that this program was built from, or "devel".
func version() string {
	if isRelease(stamp) {
		return stamp
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || !isRelease(info.Main.Version) {
		return develVersion
	}
	return info.Main.Version
}

// isRelease tells a tagged version from "(devel)", from the pseudo-versions that the
// go command makes of a commit, and from what "git describe" says of one without a tag.
func isRelease(v string) bool {
	return !strings.Contains(v, "-g") && !strings.HasSuffix(v, "-dirty") && strings.HasPrefix(v, "v") && !strings.HasPrefix(v, "v0.0.0-") && !strings.Contains(v, "-0.") && !strings.Contains(v, "+")
}

// longVersion adds the commit to a development version.
func longVersion() string {
	v := version()
	if v != develVersion {
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

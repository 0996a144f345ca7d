package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// stampPath is the package that is told of the source; see cli.ThisBuild.
const stampPath = "github.com/redeliver/redeliver/cmd/redeliver/cli."

// build says how the program is compiled. The flags stand in the Makefile alone.
type build struct {
	env   string // such as CGO_ENABLED=0, with blanks between
	flags string // of go build
	link  string // of the linker
}

// compile builds the program of a platform into a folder, and returns its file.
func (b build) compile(r *release, p platform, dir string) (string, error) {
	file := filepath.Join(dir, p.os+"_"+p.arch, p.program())
	link := b.link
	for _, stamp := range []string{"version=" + r.version, "commit=" + r.commit, "date=" + r.date.Format("2006-01-02")} {
		link += " -X " + stampPath + stamp
	}
	args := append([]string{"build"}, strings.Fields(b.flags)...)
	cmd := exec.Command("go", append(args, "-ldflags", link, "-o", file, "./cmd/redeliver")...)
	cmd.Dir = r.root
	// What the environment says of flags must not change the bytes.
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOTOOLCHAIN=local")
	cmd.Env = append(cmd.Env, strings.Fields(b.env)...)
	cmd.Env = append(cmd.Env, "GOOS="+p.os, "GOARCH="+p.arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build for %s: %w\n%s", p, err, text)
	}
	return file, nil
}

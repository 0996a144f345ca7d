package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// versionSetting names the version of the language that a worker of several versions runs,
// and versionPlace stands for it in the path of such a worker.
const (
	versionSetting = "FUNCTIONS_WORKER_RUNTIME_VERSION"
	versionPlace   = "%" + versionSetting + "%"
)

// version is the version of the language: the one that the app sets, else that of the
// interpreter, else the worker's own choice; as far as the worker's pattern keeps it, and one
// that the worker supports (spec workers 3.3). Without a place for it in the path of the
// worker nothing is checked.
func (s *Search) version(d *description, dir, program string) (string, error) {
	set := s.Setting(versionSetting)
	version, said := cmp.Or(set, d.DefaultRuntimeVersion), fmt.Sprintf("%s is %q", versionSetting, set)
	if !strings.Contains(d.DefaultWorkerPath, versionPlace) {
		return version, nil
	}
	hint := "set " + versionSetting + " to one of these"
	if set == "" {
		if s.Language == "python" { // the interpreter is of the version that counts
			version, hint = cmp.Or(versionOf(program), version), "use an interpreter of one of these, in a virtual environment of the app for instance"
		}
		said = fmt.Sprintf("the version of %s is %q", s.Language, version)
	}
	if d.SanitizeRuntimeVersionRegex != "" {
		pattern, err := regexp.Compile(d.SanitizeRuntimeVersionRegex)
		if err != nil {
			return "", s.notFound(fmt.Sprintf("%s in %q: sanitizeRuntimeVersionRegex: %v", configFile, dir, err), "install the worker again")
		}
		version = pattern.FindString(version)
	}
	if version == "" || len(d.SupportedRuntimeVersions) > 0 && !contains(d.SupportedRuntimeVersions, version) {
		return "", s.notFound(fmt.Sprintf("%s, and the worker in %q supports %s", said, dir, strings.Join(d.SupportedRuntimeVersions, ", ")), hint)
	}
	return version, nil
}

// versionPatience is how long an interpreter may take to say its version, in real time.
const versionPatience = 5 * time.Second

// versionOf asks an interpreter for its version, "3.11".
func versionOf(interpreter string) string {
	ctx, cancel := context.WithTimeout(context.Background(), versionPatience) //clock:outside asks a program
	defer cancel()
	ask := exec.CommandContext(ctx, interpreter, "--version")
	ask.WaitDelay = time.Second // for what it leaves behind with its output
	out, err := ask.Output()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return ""
	}
	words := strings.Fields(string(out))
	if len(words) == 0 {
		return ""
	}
	parts := strings.SplitN(strings.TrimPrefix(words[len(words)-1], "v"), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// Package installtest installs every file of a release from where it lies into an empty
// folder, with an empty home and no registry, and runs the README's first command with it.
//
// "make release-test" runs it, with the release in REDELIVER_DIST. Each script below testdata
// is one artefact; what a machine has no tool for is skipped with the reason.
package installtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long something may take that a machine has to do.
const patience = 2 * time.Minute

// dist is the folder of the release.
func dist(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("REDELIVER_DIST")
	if dir == "" {
		t.Skip("REDELIVER_DIST names no release: run make release, then make release-test")
	}
	return dir
}

// released is the manifest of the release.
type released struct {
	Version, Commit, Date string
	Files                 []struct{ Path, Kind string }
}

func read(t *testing.T, dir string) (m released) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// file is the path of the file of a kind whose name has a part.
func (m released) file(dir, kind, part string) string {
	for _, f := range m.Files {
		if f.Kind == kind && strings.Contains(f.Path, part) {
			return filepath.Join(dir, filepath.FromSlash(f.Path))
		}
	}
	return ""
}

func TestInstalled(t *testing.T) {
	dir := dist(t)
	m := read(t, dir)
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are written for shells of Unix")
	}
	var names map[string]struct{ Name string }
	text, err := os.ReadFile(filepath.Join("..", "names.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &names); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			if module, ok := strings.CutPrefix(cond, "python:"); ok {
				return exec.Command("python3", "-c", "import "+module).Run() == nil, nil
			}
			if file, ok := strings.CutPrefix(cond, "fetched:"); ok { // by make interop, with Maven
				found, err := filepath.Glob(filepath.Join(fetched(), filepath.FromSlash(file)))
				return len(found) > 0, err
			}
			if cond == "dotnetkit" {
				return m.file(dir, "nuget", "Redeliver.Testing.") != "", nil
			}
			tool, ok := strings.CutPrefix(cond, "has:")
			if !ok {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			_, err := exec.LookPath(tool)
			return err == nil, nil
		},
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			for name, value := range map[string]string{
				"HOME": home, "XDG_CACHE_HOME": filepath.Join(home, "cache"), "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8",
				"VERSION": m.Version, "COMMIT": m.Commit, "DATE": m.Date,
				"NPM": names["npmCommand"].Name, "PLATFORM_PACKAGES": names["npmPlatforms"].Name, "PYPI": names["pypiCommand"].Name, "KIT": names["pypiKit"].Name, "MODULE": strings.ReplaceAll(names["pypiCommand"].Name, "-", "_"),
				"ARCHIVE":      m.file(dir, "archive", runtime.GOOS+"_"+runtime.GOARCH),
				"KIT_TGZ":      m.file(dir, "npm", "testing-"+m.Version),
				"COMMAND_TGZ":  m.file(dir, "npm", "cli-"+m.Version),
				"PLATFORM_TGZ": m.file(dir, "npm", map[string]string{"linux": "linux", "darwin": "darwin"}[runtime.GOOS]+"-"+map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]+"-"),
				"WHEEL":        m.file(dir, "wheel", wheelPart()),
				"DIST":         dir, "FETCHED": fetched(),
				"KIT_JAR":     m.file(dir, "maven", "redeliver-testing-"+m.Version+".jar"),
				"BINARY_JAR":  m.file(dir, "maven", "-"+mavenPlatform()+".jar"),
				"KIT_WHEEL":   m.file(dir, "wheel", strings.ReplaceAll(names["pypiKit"].Name, "-", "_")),
				"NUGET_FILES": filepath.Join(dir, "nuget") + string(filepath.Separator) + "*.nupkg", "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1",
				"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": os.Getenv("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"),
				// Whoever asks a registry all the same is told at once.
				"npm_config_registry": "http://127.0.0.1:9", "npm_config_offline": "true", "npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false",
				"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore", "UV_OFFLINE": "1", "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never",
			} {
				env.Setenv(name, value)
			}
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"running": running, "signalled": signalled, "workflow": workflow},
	})
}

// fetched is where Maven keeps what it has fetched for this user.
func fetched() string {
	home, _ := os.UserHomeDir()
	return filepath.Join(home, ".m2", "repository")
}

// mavenPlatform is the classifier of this machine.
func mavenPlatform() string {
	return map[string]string{"linux": "linux", "darwin": "osx"}[runtime.GOOS] + "-" + map[string]string{"amd64": "x86_64", "arm64": "aarch_64"}[runtime.GOARCH]
}

// wheelPart is what the name of this machine's wheel has.
func wheelPart() string {
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "linux/amd64":
		return "manylinux_2_17_x86_64"
	case "linux/arm64":
		return "manylinux_2_17_aarch64"
	case "darwin/arm64":
		return "macosx_12_0_arm64"
	}
	return "macosx_12_0_x86_64"
}

// runningProcess is a program that a script has started.
type runningProcess struct {
	cmd  *exec.Cmd
	done chan error
}

var processes = map[*testscript.TestScript]*runningProcess{} // one a script; scripts run one by one

// running REGEXP COMMAND... starts a program, and goes on when a line of its output matches.
func running(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command(args[1], args[2:]...)
	if found, err := exec.LookPath(ts.MkAbs(args[1])); err == nil && strings.Contains(args[1], "/") {
		cmd.Path = found
	}
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "PATH", "XDG_CACHE_HOME", "npm_config_offline", "npm_config_registry", "npm_config_update_notifier"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	ts.Check(cmd.Start())
	p := &runningProcess{cmd, make(chan error, 1)}
	go func() {
		err := cmd.Wait()
		in.Close()
		p.done <- err
	}()
	ts.Defer(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	processes[ts] = p
	found, want := make(chan bool, 1), regexp.MustCompile(args[0])
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			ts.Logf("[running] %s", lines.Text())
			if want.MatchString(lines.Text()) {
				found <- true
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
		found <- false
	}()
	select {
	case ok := <-found:
		if !ok {
			ts.Fatalf("the program ended before a line matched %q", args[0])
		}
	case <-time.After(patience):
		ts.Fatalf("no line matched %q", args[0])
	}
}

// signalled SIGNAL CODE|any [group] sends a signal to the program, or as a terminal does to its
// whole group, waits until nobody has its output any more, and wants that exit code and no
// process left of its group.
func signalled(ts *testscript.TestScript, neg bool, args []string) {
	p := processes[ts]
	number := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[0]]
	pid := p.cmd.Process.Pid
	if len(args) > 2 {
		pid = -pid
	}
	ts.Check(syscall.Kill(pid, number))
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("the program has not ended")
	}
	if got := fmt.Sprint(p.cmd.ProcessState.ExitCode()); got != args[1] && args[1] != "any" {
		ts.Fatalf("exit code %s, want %s", got, args[1])
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, 0); err == nil {
		ts.Fatalf("a process of the group is left")
	}
}

// step is a command of a workflow of GitHub, without the comment behind it.
var step = regexp.MustCompile(`(?m)^ +- run: (.+?)(?: #.*)?$`)

// workflow PAGE runs the commands of the workflow that a page shows, one after the other.
func workflow(ts *testscript.TestScript, neg bool, args []string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(args[0])))
	ts.Check(err)
	_, block, _ := strings.Cut(string(text), "\njobs:\n")
	block, _, _ = strings.Cut(block, "```")
	steps := step.FindAllStringSubmatch(block, -1)
	if len(steps) < 2 {
		ts.Fatalf("%s has a workflow of %d commands", args[0], len(steps))
	}
	for _, s := range steps {
		ts.Check(ts.Exec("sh", "-c", s[1]))
	}
}

//clock:outside the SDK of .NET and the hosts of the tests are of the real world

package judge_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redeliver/redeliver/host/worker/dotnettest"
)

// The app of testdata/dotnet, built once for all tests, as both hosts then run it.
var dotnetApp struct {
	sync.Once
	dir string
	err error
}

func buildDotnet() (string, error) {
	dotnetApp.Do(func() {
		sdk, err := dotnettest.SDK()
		if err != nil {
			dotnetApp.err = err
			return
		}
		dir, err := os.MkdirTemp("", "judge-dotnet-")
		dotnetApp.dir = dir
		if err == nil {
			err = os.CopyFS(filepath.Join(dir, "source"), os.DirFS("testdata/dotnet"))
		}
		if err != nil {
			dotnetApp.err = err
			return
		}
		build := exec.Command(sdk, "build", "-v", "q", "-nologo", "-o", filepath.Join(dir, "out"))
		build.Dir, build.Env = filepath.Join(dir, "source"), append(os.Environ(), dotnettest.Environment()...)
		if out, err := build.CombinedOutput(); err != nil {
			dotnetApp.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	return filepath.Join(dotnetApp.dir, "out"), dotnetApp.err
}

// removeDotnet removes what buildDotnet has made.
func removeDotnet() {
	if dotnetApp.dir != "" {
		_ = os.RemoveAll(dotnetApp.dir)
	}
}

// hasDotnet says whether apps in C# can be tested here.
func hasDotnet(t *testing.T) bool {
	t.Helper()
	_, err := dotnettest.SDK()
	if err != nil && dotnettest.Required() {
		t.Fatal(err)
	}
	return err == nil
}

// layDotnet lays the built app into a folder of its own. form is "aspnet" for the ASP.NET
// Core integration, anything else for an app without it.
func layDotnet(t *testing.T, form, run string, change func(hostJSON string) string) *laid {
	t.Helper()
	built, err := buildDotnet()
	base := t.TempDir()
	a := &laid{dir: filepath.Join(base, "app"), given: filepath.Join(base, "given")}
	if err == nil {
		err = os.CopyFS(a.dir, os.DirFS(built))
	}
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		path := filepath.Join(a.dir, "host.json")
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(change(string(text))), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a.env = append(dotnettest.Environment(), "DOTNET_ROOT="+os.Getenv("DOTNET_ROOT"), "JUDGE_FORM="+form, "JUDGE_RUN="+run, "JUDGE_GIVEN="+a.given)
	return a
}

// Requests to functions in C#, and whole answers, with the ASP.NET Core integration and
// without: results, exceptions, middleware, and what the function was given. In the forms
// "-retry" all functions have the policy of host.json.
func TestDotnetRequests(t *testing.T) {
	t.Parallel()
	tab := readTable(t, "testdata/dotnethttp.tsv", 5, 3)
	if !hasDotnet(t) {
		t.Skip("there is no .NET SDK here: C# is not tested")
	}
	all := func(t *testing.T, start starter) [][]string {
		facts := make([][]string, len(tab.rows))
		for form, rows := range tab.byApp() {
			t.Run(form, func(t *testing.T) {
				base, retry, _ := strings.Cut(form, "-")
				a := layDotnet(t, base, newID(), policy(retry))
				s := start(t, a.dir, "dotnet-isolated", a.env)
				if s.state != "Running" {
					t.Fatalf("the host's state is %s", s.state)
				}
				for _, i := range rows {
					in := tab.rows[i].in
					if expected := tab.rows[i].expected(); len(expected) == 0 || expected[0] != statusText(0) {
						facts[i] = s.request(t, in[1], in[2], in[3], in[4])
						continue
					}
					// Silence is waited for beside the others, and not for long.
					t.Run(in[1]+" "+in[2], func(t *testing.T) {
						t.Parallel()
						silent := *s
						silent.patience = silence
						facts[i] = silent.request(t, in[1], in[2], in[3], in[4])
					})
				}
			})
		}
		return facts
	}
	tab.judge(t, judgeVariable, all(t, openOurs), func(t *testing.T) [][]string { return all(t, openTheirs) })
}

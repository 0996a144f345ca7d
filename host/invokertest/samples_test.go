package invokertest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/triggers"
)

const samples = "../../functions/samples"

// The orders app does the same in each language and model: what is received, tried,
// waited for and decided, in which order and when.
func TestSamples(t *testing.T) {
	t.Parallel()
	functions := []string{"PlaceOrder", "ProcessOrder", "SendInvoice", "Heartbeat"}
	want := orders(t, hosttest.New(t, &hosttest.Options{Dir: samples + "/orders"}), functions)
	folders, err := os.ReadDir(samples)
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]bool{"orders": true, "durable-js": true} // the latter in host/scenario
	for _, m := range append(models(), model{name: "typescript", runtime: "node", library: "node_modules/@azure/functions"}, model{name: "orders-dotnet", runtime: languages.Dotnet}) {
		run[m.name] = true
		t.Run(m.title(), func(t *testing.T) {
			t.Parallel()
			env := m.need(t)
			if m.name == "custom" {
				if out, err := command(t, "perl", "-MJSON::PP", "-e1"); err != nil {
					t.Skipf("there is no Perl with its own modules here: %v %s", err, out)
				}
			}
			dir := filepath.Join(t.TempDir(), "app")
			if m.runtime == "java" {
				if err := libraries.Stage(filepath.Join(samples, m.name), dir); err != nil {
					t.Fatal(err)
				}
			} else if err := os.CopyFS(dir, os.DirFS(filepath.Join(samples, m.name))); err != nil {
				t.Fatal(err)
			}
			m.libraries(t, dir)
			if m.name == "typescript" {
				compile(t, dir)
			}
			got, want := orders(t, m.hostOf(t, dir, env, functions...), functions), want
			if m.runtime == languages.Dotnet {
				// A queue function of .NET has no policy of its own (spec workers-dotnet-java 1.4).
				got, want = without(got, " SendInvoice "), without(want, " SendInvoice ")
			}
			wantSame(t, got, want)
		})
	}
	for _, folder := range folders {
		if !run[folder.Name()] {
			t.Errorf("the sample %s is in no model", folder.Name())
		}
	}
}

func without(lines []string, text string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(line, text) })
}

// compile builds an app in TypeScript, as "npm run build" does.
func compile(t *testing.T, dir string) {
	t.Helper()
	packages, err := filepath.Abs(filepath.Join(interop, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	tsc := filepath.Join(packages, "typescript", "bin", "tsc")
	if _, err := os.Stat(tsc); err != nil {
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v; run make interop", err)
		}
		t.Skipf("%v; run make interop", err)
	}
	types := filepath.Join(dir, "node_modules", "@types")
	if err := os.MkdirAll(types, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(packages, "@types", "node"), filepath.Join(types, "node")); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, "node", tsc, "-p", dir); err != nil {
		t.Fatalf("tsc: %v\n%s", err, out)
	}
}

// orders drives the orders app: an order that is good, a request that is none, an order
// that is processed at the third attempt, one that never is, and the schedule.
func orders(t *testing.T, h *hosttest.Host, functions []string) []string {
	t.Helper()
	if resp := h.Request("POST", "/api/orders", `{"id":"7"}`); resp.StatusCode != 202 || string(resp.Body) != "order 7 accepted\n" && string(resp.Body) != "order 7 accepted" {
		t.Errorf("a good order: %d %q", resp.StatusCode, resp.Body)
	}
	h.AwaitSettled("SendInvoice", triggers.Deleted)
	if resp := h.Request("POST", "/api/orders", `{}`); resp.StatusCode != 400 {
		t.Errorf("a bad order: %d %q", resp.StatusCode, resp.Body)
	}
	h.Send("orders", `{"id":"8","flaky":2}`)
	h.AwaitSettled("SendInvoice", triggers.Deleted)
	h.Send("orders", `{"id":"9","fail":true}`)
	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	h.Advance(5 * time.Minute)
	h.WantDeliveries("ProcessOrder", 1, 3, 5, 5, 5, 5, 5)
	return history(h, functions...)
}

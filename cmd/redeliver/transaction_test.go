//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// run runs a program until it ends or the test does.
func (p *process) run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	p.cmd, p.changed = cmd, make(chan struct{})
	cmd.Stdout, cmd.Stderr = outputOf{p, true}, outputOf{p, false}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
}

// kill ends the process at once; again it does nothing.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// says waits until the output matches, and returns the match.
func (p *process) says(t *testing.T, expr string) []string {
	t.Helper()
	late := time.After(patience)
	for re := regexp.MustCompile("(?m)" + expr); ; {
		said, changed := p.output()
		if found := re.FindStringSubmatch(said); found != nil {
			return found
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("waited for %s:\n%s", expr, said)
		}
	}
}

// transactionHost is a durable host that is killed and started again, and the client
// for Java with its transaction (bindings/azure/testdata/interop/java/Transaction.java).
type transactionHost struct {
	*testing.T
	dir          string
	host, client process
	steps        io.Writer
}

func (h *transactionHost) start() {
	h.Helper()
	h.host = process{}
	h.host.run(h.T, exec.Command("redeliver", "start", h.dir, "--services-only", "--port", "0", "--blob-port", "off", "--queue-port", "off",
		"--table-port", "off", "--eventgrid-port", "off", "--servicebus-port", "0", "--servicebus-admin-port", "off", "--servicebus-config", filepath.Join(h.dir, "Config.json")))
	h.host.says(h.T, "ready in")
}

func (h *transactionHost) redeliver(args ...string) string {
	h.Helper()
	out, err := exec.Command("redeliver", append(args, "--dir", h.dir)...).CombinedOutput()
	if err != nil {
		h.Fatalf("redeliver %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// begin starts the client's transaction and takes it to a step.
func (h *transactionHost) begin(end, step string) {
	h.Helper()
	found := h.host.says(h.T, `^  servicebus +(Endpoint=sb://([^;]+)\S+)$`)
	java := filepath.Join("..", "..", ".interop", "java")
	cmd := exec.Command("java", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(java, "classes")+":"+filepath.Join(java, "lib", "*"), "Transaction", found[1], found[2], "work", end)
	steps, err := cmd.StdinPipe()
	if err != nil {
		h.Fatal(err)
	}
	h.steps = steps
	h.client = process{}
	h.client.run(h.T, cmd)
	for _, next := range []string{"declared", "dead-lettered", "completed", "sent", "discharged"} {
		h.client.says(h.T, "^"+next)
		if next == step {
			return
		}
		h.goOn()
	}
}

func (h *transactionHost) goOn() { fmt.Fprintln(h.steps) }

// there returns the messages of the queue and of its dead-letter queue.
func (h *transactionHost) there() (list []string) {
	h.Helper()
	for _, source := range []string{"work", "work/$DeadLetterQueue"} {
		for _, body := range regexp.MustCompile(`\b(one|two|three)\b`).FindAllString(h.redeliver("peek", "servicebus", source), -1) {
			list = append(list, source+" "+body)
		}
	}
	return list
}

// TestTransactionOfAKilledHost has the client for Java dead-letter a message, complete
// a second and send a third in one transaction, and kills the host with SIGKILL after
// each step: all of it is there when the host is started again, or nothing.
func TestTransactionOfAKilledHost(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join("..", "..", ".interop", "java", "classes", "Transaction.class")); err != nil {
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		}
		t.Skip("the SDKs for Java are not installed; run make interop")
	}
	nothing := []string{"work one", "work two"}
	all := []string{"work three", "work/$DeadLetterQueue one"}
	for name, test := range map[string]struct {
		end, step string
		then      func(h *transactionHost)
		want      []string // nil: all or nothing
	}{
		"declared":      {"commit", "declared", nil, nothing},
		"dead-lettered": {"commit", "dead-lettered", nil, nothing},
		"completed":     {"commit", "completed", nil, nothing},
		"sent":          {"commit", "sent", nil, nothing},
		"committing":    {"commit", "sent", (*transactionHost).goOn, nil},
		"committed":     {"commit", "discharged", nil, all},
		"rolled back":   {"rollback", "discharged", nil, nothing},
		"timed out": {"commit", "sent", func(h *transactionHost) {
			h.redeliver("clock", "advance", "2m")
			h.goOn()
			h.client.says(h.T, "^refused: .*open for 120 seconds")
		}, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			h := &transactionHost{T: t, dir: t.TempDir()}
			config := `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "work", "Properties": {"LockDuration": "PT5M"}}]}]}}`
			if err := os.WriteFile(filepath.Join(h.dir, "Config.json"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			h.start()
			h.redeliver("send", "servicebus", "work", "one")
			h.redeliver("send", "servicebus", "work", "two")
			h.begin(test.end, test.step)
			if test.then != nil {
				test.then(h)
			}
			_ = h.host.cmd.Process.Signal(syscall.SIGKILL)
			h.client.kill()
			h.host.kill()
			h.start()
			got := h.there()
			if want := test.want; want != nil && !cmp.Equal(got, want) || !cmp.Equal(got, all) && !cmp.Equal(got, nothing) {
				t.Errorf("after the kill there is %q, want %q", got, want)
			}
		})
	}
}

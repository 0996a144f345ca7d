package azure_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// running is a "redeliver start" of the app of testdata/interop.
type running struct {
	url     string // of the functions and the control API
	storage string // the connection string that was printed
}

// buildCommand builds the command.
func buildCommand(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "redeliver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/redeliver").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// startApp runs the app until the test ends.
func startApp(t *testing.T, program string) *running {
	t.Helper()
	cmd := exec.Command(program, "start", filepath.Join("testdata", "interop", "app"),
		"--port", "0", "--blob-port", "0", "--queue-port", "0", "--in-memory")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var drained sync.WaitGroup
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		drained.Wait()
		if err := cmd.Wait(); err != nil {
			t.Errorf("redeliver start: %v", err)
		}
	})
	r := &running{}
	var said []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said = append(said, lines.Text())
		switch name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); name {
		case "functions":
			r.url = strings.TrimSpace(value)
		case "storage":
			r.storage = strings.TrimSpace(value)
		}
		if r.url != "" && r.storage != "" {
			drained.Go(func() { io.Copy(io.Discard, out) })
			return r
		}
	}
	t.Fatalf("redeliver start has ended:\n%s", strings.Join(said, "\n"))
	return nil
}

// settled reads the journal as it grows, until n deliveries have been settled, and
// returns what became of them: function, decision, delivery count and, where it
// went elsewhere, the queue.
func (r *running) settled(t *testing.T, n int) []string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Minute}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/admin/redeliver/journal?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out, seen []string
	lines := bufio.NewScanner(resp.Body)
	for len(out) < n && lines.Scan() {
		seen = append(seen, lines.Text())
		var record struct {
			Kind, Function, Decision, Target string
			DeliveryCount                    int `json:"delivery_count"`
		}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatalf("journal: %v in %q", err, lines.Text())
		}
		if record.Kind == "settled" {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", record.Function, record.Decision, record.DeliveryCount, record.Target)))
		}
	}
	if len(out) < n {
		t.Fatalf("the journal ended, %v, with:\n%s", lines.Err(), strings.Join(seen, "\n"))
	}
	slices.Sort(out)
	return out
}

// TestAcceptance: scripts in other languages, with the official packages and the
// connection string that "redeliver start" prints, put messages and upload
// blobs: functions fire, and what fails becomes poison as specified (spec storage
// 4.1, 4.2, 8, 20).
func TestAcceptance(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", "node_modules/@azure/storage-queue", "python3")
	program := buildCommand(t)
	want := []string{
		"Import deleted 1", "Import poisoned 5 webjobs-blobtrigger-poison",
		"Import released 1", "Import released 2", "Import released 3", "Import released 4",
		"Order deleted 1", "Order poisoned 5 orders-poison",
		"Order released 1", "Order released 2", "Order released 3", "Order released 4",
		"Order undecodable 1 orders-poison",
	}
	for _, language := range []struct {
		name string
		run  func(t *testing.T, file string, args ...string)
		file string
	}{{"JavaScript", javaScript, "fire.cjs"}, {"Python", pythonScript, "fire.py"}} {
		t.Run(language.name, func(t *testing.T) {
			r := startApp(t, program)
			language.run(t, language.file, r.storage, "put")
			got := r.settled(t, len(want))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("settled (-want +got):\n%s", diff)
			}
			language.run(t, language.file, r.storage, "poison")
		})
	}
}

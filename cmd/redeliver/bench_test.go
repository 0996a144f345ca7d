package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkStart starts the sample app with a real binary, as a user does, and
// measures from the start of the process to its ready line. The handler has
// been built before. rss-MB is the resident memory of the host at that moment,
// without its handler process (Linux only).
//
//	go test -run '^$' -bench Start ./cmd/redeliver
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	binary := filepath.Join(dir, "redeliver")
	sample := filepath.Join("..", "..", "functions", "samples", "orders")
	build := exec.Command("go", "build", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", binary, ".") // as make build does
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	startOnce(b, binary, sample) // builds the handler
	b.ResetTimer()
	var rss float64
	for b.Loop() {
		rss = startOnce(b, binary, sample)
	}
	if rss > 0 {
		b.ReportMetric(rss, "rss-MB")
	}
}

// startOnce starts a host, waits for its ready line, stops the timer, ends the
// host and returns its resident memory in MB.
func startOnce(b *testing.B, binary, dir string) float64 {
	b.Helper()
	b.StartTimer()
	cmd := exec.Command(binary, "start", dir, "--port", "0", "--blob-port", "0", "--queue-port", "0", "--no-watch")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	ready := false
	for !ready && lines.Scan() {
		ready = strings.Contains(lines.Text(), "ready in")
	}
	b.StopTimer()
	rss := residentMB(cmd.Process.Pid)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	for lines.Scan() { // to its end
	}
	if err := cmd.Wait(); err != nil || !ready {
		b.Fatalf("start: ready %v, %v\n%s", ready, err, stderr.String())
	}
	b.StartTimer()
	return rss
}

// residentMB is the resident memory of a process, 0 where the system does not
// say.
func residentMB(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}

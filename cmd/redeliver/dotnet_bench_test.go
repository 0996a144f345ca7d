//clock:outside measures real time

package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/redeliver/redeliver/host/worker/dotnettest"
)

// dotnetFunctions are added to the app of "redeliver init": an answer that an edit changes, a
// queue's messages and how many have come.
const dotnetFunctions = `using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Azure.Functions.Worker;

namespace App;

public class Measured
{
    static int count;
    [Function("Answer")] public IActionResult Answer([HttpTrigger(AuthorizationLevel.Anonymous, "get")] HttpRequest request) => new OkObjectResult("VERSION");
    [Function("Count")] public IActionResult Count([HttpTrigger(AuthorizationLevel.Anonymous, "get")] HttpRequest request) => new OkObjectResult(count.ToString());
    [Function("Taken")] public void Taken([QueueTrigger("measured")] string message) => Interlocked.Increment(ref count);
}
`

// BenchmarkDotnet measures an app in C#, made by "redeliver init", with a real SDK and its
// worker: a start that builds everything, one that has nothing to build, the time from a save
// to the first answer of the new code, and the requests and messages a second of 16 callers.
// One operation is one of each; -benchtime 3x is enough.
//
//	go test -run '^$' -bench Dotnet -benchtime 3x ./cmd/redeliver
func BenchmarkDotnet(b *testing.B) {
	if _, err := dotnettest.SDK(); err != nil {
		b.Skip(err)
	}
	dir := b.TempDir()
	binary, app := filepath.Join(dir, "redeliver"), filepath.Join(dir, "app")
	for _, args := range [][]string{{"go", "build", "-o", binary, "."}, {binary, "init", app, "--lang", "csharp"}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	functions := filepath.Join(app, "Measured.cs")
	save := func(version string) {
		if err := os.WriteFile(functions, []byte(strings.ReplaceAll(dotnetFunctions, "VERSION", version)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	var cold, warm, saved, requests, messages time.Duration
	const calls = 2000
	for i := range b.N {
		save("one")
		for _, folder := range []string{".redeliver", "obj", "bin"} {
			if err := os.RemoveAll(filepath.Join(app, folder)); err != nil {
				b.Fatal(err)
			}
		}
		h := startDotnet(b, binary, app)
		cold += h.ready
		h.stop()
		h = startDotnet(b, binary, app)
		warm += h.ready
		version := fmt.Sprint("two", i)
		begun := time.Now()
		save(version)
		for h.get("Answer") != version {
		}
		saved += time.Since(begun)
		requests += inFlight(calls, func(int) { h.get("Answer") })
		messages += h.messages(calls)
		h.stop()
	}
	n := float64(b.N)
	b.ReportMetric(cold.Seconds()/n, "s-cold-start")
	b.ReportMetric(warm.Seconds()/n, "s-warm-start")
	b.ReportMetric(saved.Seconds()/n, "s-save-to-answer")
	b.ReportMetric(calls*n/requests.Seconds(), "requests/s")
	b.ReportMetric(calls*n/messages.Seconds(), "messages/s")
	b.ReportMetric(0, "ns/op")
}

// dotnetHost is a running host.
type dotnetHost struct {
	b       *testing.B
	cmd     *exec.Cmd
	url     string
	storage string
	ready   time.Duration
	client  http.Client
	printed chan struct{} // closed at the end of what it prints
}

func startDotnet(b *testing.B, binary, app string) *dotnetHost {
	b.Helper()
	h := &dotnetHost{b: b, cmd: exec.Command(binary, "start", app, "--port", "0", "--blob-port", "0", "--queue-port", "0", "--in-memory"), printed: make(chan struct{})}
	h.client.Transport = &http.Transport{MaxIdleConnsPerHost: 16}
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := h.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for h.storage == "" && lines.Scan() {
		switch what, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); what {
		case "redeliver":
			if strings.Contains(value, "ready in") {
				h.ready = time.Since(begun)
			}
		case "functions":
			h.url = strings.TrimSpace(value)
		case "storage":
			h.storage = strings.TrimSpace(value)
		}
	}
	if h.ready == 0 || h.url == "" {
		b.Fatalf("it is not ready: %s", lines.Text())
	}
	go func() {
		defer close(h.printed)
		for lines.Scan() { // to its end
		}
	}()
	return h
}

func (h *dotnetHost) stop() {
	h.b.Helper()
	if err := h.cmd.Process.Signal(os.Interrupt); err != nil {
		h.b.Fatal(err)
	}
	<-h.printed
	if err := h.cmd.Wait(); err != nil {
		h.b.Fatal(err)
	}
}

// get is the answer of a function.
func (h *dotnetHost) get(function string) string {
	resp, err := h.client.Get(h.url + "/api/" + function)
	if err != nil {
		h.b.Error(err)
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		h.b.Errorf("%s: %d %s, %v", function, resp.StatusCode, text, err)
	}
	return string(text)
}

// messages sends n messages, and waits until the function has had them all.
func (h *dotnetHost) messages(n int) time.Duration {
	queue, err := azqueue.NewQueueClientFromConnectionString(h.storage, "measured", nil)
	if err != nil {
		h.b.Fatal(err)
	}
	_, _ = queue.Create(context.Background(), nil) // it is there, if the trigger was faster
	begun := time.Now()
	inFlight(n, func(i int) {
		if _, err := queue.EnqueueMessage(context.Background(), base64.StdEncoding.EncodeToString(fmt.Append(nil, i)), nil); err != nil {
			h.b.Error(err)
		}
	})
	for h.get("Count") != fmt.Sprint(n) && !h.b.Failed() {
	}
	return time.Since(begun)
}

// inFlight has 16 callers make n calls, and returns how long they took.
func inFlight(n int, call func(i int)) time.Duration {
	begun := time.Now()
	var all sync.WaitGroup
	for caller := range 16 {
		all.Go(func() {
			for i := caller; i < n; i += 16 {
				call(i)
			}
		})
	}
	all.Wait()
	return time.Since(begun)
}

//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/explain"
)

// assistantApp is an app in a folder with a blank in its name, and its host once it is
// started.
type assistantApp struct {
	dir  string
	host process
}

func newAssistantApp(t *testing.T, name string) *assistantApp {
	t.Helper()
	a := &assistantApp{dir: filepath.Join(t.TempDir(), name)}
	for file, text := range map[string]string{
		"host.json": `{"version":"2.0","retry":{"strategy":"fixedDelay","maxRetryCount":2,"delayInterval":"00:00:10"},"extensions":{"queues":{"maxDequeueCount":1}},
			"customHandler":{"description":{"defaultExecutablePath":"orders-handler"}},
			"redeliver":{"eventGrid":{"topics":[{"name":"shop","key":"c2VjcmV0LWtleS1vZi1zaG9w"}]}}}`,
		"local.settings.json": `{"IsEncrypted":false,"Values":{"AzureWebJobsStorage":"UseDevelopmentStorage=true"}}`,
	} {
		if err := os.MkdirAll(a.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a *assistantApp) start(t *testing.T, clock string) {
	t.Helper()
	a.host = process{done: make(chan struct{})}
	a.host.run(t, exec.Command("redeliver", "start", a.dir, "--port", "0", "--blob-port", "0", "--queue-port", "0", "--eventgrid-port", "0", "--clock", clock, "--in-memory"))
	a.host.says(t, "ready in")
}

// connect is a client of a server in this process, as if it had been started in dir.
func connectAssistant(t *testing.T, dir string) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	a := &assistant{dir: dir, std: cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}}
	go func() { ended <- a.server(false).Run(ctx, there) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return session
}

// tool calls a tool, and returns its text and its JSON.
func tool(t *testing.T, s *mcp.ClientSession, name, arguments string) (text, data string, failed bool) {
	t.Helper()
	out, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	if out.StructuredContent != nil {
		raw, err := json.Marshal(out.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		data = string(raw)
	}
	return out.Content[0].(*mcp.TextContent).Text, data, out.IsError
}

// tells calls a tool whose text has to contain a part.
func tells(t *testing.T, s *mcp.ClientSession, name, arguments, part string) {
	t.Helper()
	if text, _, _ := tool(t, s, name, arguments); !strings.Contains(text, part) {
		t.Errorf("%s %s: got\n%s\nwant %q", name, arguments, text, part)
	}
}

// Each assistant reaches the host of its folder, whatever else runs, and asks it for a
// message that failed; many calls at once do not disturb each other.
func TestAssistants(t *testing.T) {
	t.Parallel()
	shop, bare := newAssistantApp(t, "my shop"), newAssistantApp(t, "bare")
	shop.start(t, "auto")
	session := connectAssistant(t, shop.dir)
	tells(t, session, "send", `{"service":"queue","name":"orders","body":{"id":"7","fail":true}}`, `to queue "orders"`)
	shop.host.says(t, "poisoned .*orders-poison")
	tells(t, session, "explain", `{}`, "attempt 3 of 3 failed")
	tells(t, session, "explain", `{"function":"processorder"}`, `poisoned to orders-poison: Message has reached MaxDequeueCount of 1.`)

	list, data, _ := tool(t, session, "ls", `{}`)
	if strings.Contains(list+data, "c2VjcmV0") || !strings.Contains(data, `"key":"********"`) {
		t.Errorf("ls tells the key of a topic:\n%s\n%s", list, data)
	}

	other := connectAssistant(t, bare.dir)
	for _, tool := range []string{"explain", "ls", "logs", "clock"} {
		tells(t, other, tool, `{}`, fmt.Sprintf("error: no host runs the app in %q\nhint: start it", bare.dir))
	}
	tells(t, other, "check", `{"noBuild":true}`, "bare: ")
	bare.start(t, "manual")
	tells(t, other, "explain", `{}`, "nothing has happened yet")
	tells(t, other, "clock", `{}`, "mode  manual")
	tells(t, session, "clock", `{}`, "mode  auto")

	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			if i%2 == 0 {
				tells(t, session, "explain", `{"last":1,"function":"ProcessOrder"}`, "of orders, function ProcessOrder")
			} else {
				tells(t, other, "send", fmt.Sprintf(`{"service":"queue","name":"off","body":"%d"}`, i), "sent ")
			}
		})
	}
	calls.Wait()
	tells(t, other, "peek", `{"service":"queue","name":"off"}`, `queue "off": 20 messages`)
}

// A host may end while it is asked, and start again.
func TestAssistantWhoseHostEnds(t *testing.T) {
	t.Parallel()
	app := newAssistantApp(t, "app")
	app.start(t, "manual")
	session := connectAssistant(t, app.dir)
	answer := make(chan string, 1)
	go func() {
		out, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "invoke", Arguments: json.RawMessage(`{"name":"ProcessOrder","body":{"wait":true}}`)})
		if err != nil {
			answer <- err.Error()
			return
		}
		answer <- out.Content[0].(*mcp.TextContent).Text
	}()
	app.host.says(t, "waiting")
	app.host.kill()
	if got, want := <-answer, fmt.Sprintf("error: the host of the app in %q has ended meanwhile\nhint: start it again", app.dir); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	tells(t, session, "ls", `{}`, fmt.Sprintf("error: no host runs the app in %q", app.dir))
	app.start(t, "manual")
	tells(t, session, "ls", `{}`, "ProcessOrder")

	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "invoke", Arguments: json.RawMessage(`{"name":"ProcessOrder","body":{"wait":true}}`)})
		failed <- err
	}()
	app.host.says(t, "waiting")
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v of a call that was cancelled", err)
	}
	tells(t, session, "ls", `{"what":["functions"]}`, "ProcessOrder")
}

// What has taken the port of the host is not asked for anything, nor told a key.
func TestAssistantAndAForeignServer(t *testing.T) {
	t.Parallel()
	dir, owner := ownedApp(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/admin/redeliver/identity" || r.Header.Get("X-Functions-Key") != "" {
			t.Errorf("it was asked for %s, with the key %q", r.URL, r.Header.Get("X-Functions-Key"))
		}
		fmt.Fprint(w, `{"proof":"00"}`)
	}))
	t.Cleanup(server.Close)
	if err := owner.Publish(remote.RunInfo{PID: 1, Secret: remote.NewSecret(), Address: server.URL}); err != nil {
		t.Fatal(err)
	}
	tells(t, connectAssistant(t, dir), "ls", `{}`, "error: the server at "+server.URL+" is not ")
}

// Of more lives than an answer has room for the latest are told, in the text and in the JSON.
func TestLatestText(t *testing.T) {
	t.Parallel()
	out := &explain.Told{More: 7}
	for i := range 300 {
		out.Lives = append(out.Lives, &explain.Life{Message: fmt.Sprintf("m%d-%s", i, strings.Repeat("x", 900)), Source: "orders"})
	}
	text := latestText(out)
	if !strings.Contains(text, "message m299-") || strings.Contains(text, "message m0-") || !strings.HasPrefix(text, fmt.Sprintf("... %d messages before these: ", out.More)) {
		t.Errorf("got %.80s ... %.60s", text, text[len(text)-1000:])
	}
	if data, err := json.Marshal(out); err != nil || len(data) > 64<<10 || len(out.Lives) < 40 || out.More+len(out.Lives) != 307 {
		t.Errorf("%d lives in %d bytes, %d before (%v)", len(out.Lives), len(data), out.More, err)
	}
	if text := latestText(&explain.Told{}); !strings.HasPrefix(text, "nothing has happened yet") {
		t.Errorf("got %q without lives", text)
	}
}

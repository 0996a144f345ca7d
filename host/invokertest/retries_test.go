package invokertest_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// policies are as function.json has them.
var policies = map[string]string{ // read only
	"Fixed":       `{ "strategy": "fixedDelay", "maxRetryCount": 4, "delayInterval": "00:00:10" }`,
	"Exponential": `{ "strategy": "exponentialBackoff", "maxRetryCount": 5, "minimumInterval": "00:00:10", "maximumInterval": "00:15:00" }`,
}

// retryFiles are the function.json of functions that fail until the last retry, on each
// trigger with each policy, and of one that always does.
func (m model) retryFiles() map[string]string {
	files := map[string]string{}
	add := func(name, entry, trigger, policy string) {
		script := ""
		switch m.runtime {
		case "node", "python", "java":
			if m.runtime == "node" && entry != "literal" {
				entry = "working"
			}
			script = fmt.Sprintf(`"scriptFile": "../%s", "entryPoint": %q, `, m.script(), m.entry(entry))
		}
		files[name+"/function.json"] = fmt.Sprintf(`{%s"bindings": [{ "direction": "in", "name": "item", %s }], "retry": %s}`, script, trigger, policies[policy])
	}
	web := `"type": "httpTrigger", "methods": ["get"], "authLevel": "anonymous"`
	for policy := range policies {
		queue := strings.ToLower(policy)
		add(policy+"Queue", "queue", fmt.Sprintf(`"type": "queueTrigger", "queueName": %q`, queue), policy)
		add(policy+"ServiceBus", "servicebus", fmt.Sprintf(`"type": "serviceBusTrigger", "queueName": %q, "connection": "AzureWebJobsServiceBus"`, queue), policy)
		add(policy+"Http", "http", web, policy)
	}
	add("Literal", "literal", web, "Fixed")
	return files
}

// retriesInGo is the app in Go, in this process.
func retriesInGo() *functions.App {
	app := functions.New()
	before := regexp.MustCompile(`attempt \d+ fails`)
	for policy := range policies {
		for _, trigger := range []string{"Queue", "ServiceBus", "Http"} {
			app.Handle(policy+trigger, func(ctx context.Context, _ *functions.Trigger) error {
				r, last := functions.Retry(ctx), "nothing"
				if r.Exception != nil {
					last = before.FindString(r.Exception.Message)
				}
				if r.LastAttempt() {
					return nil
				}
				return fmt.Errorf("attempt %d fails; retry %d of %d; before: %s", r.RetryCount+1, r.RetryCount, r.MaxRetryCount, last)
			})
		}
	}
	app.Handle("Literal", func(context.Context, *functions.Trigger) error {
		return fmt.Errorf("TypeError: it wants a level first")
	})
	return app
}

// A function sees each retry from 0 to the last, and the failure before it; attempts,
// waits and ends are those of the app in Go (spec host-and-retry 3.1, 3.5).
func TestRetries(t *testing.T) {
	t.Parallel()
	want := retries(t, hosttest.New(t, &hosttest.Options{Files: model{runtime: "go"}.retryFiles(), Handlers: retriesInGo()}), "TypeError")
	for _, m := range models() {
		t.Run(m.title(), func(t *testing.T) {
			t.Parallel()
			env := m.need(t)
			dir, more := m.retryApp(t)
			literal := "TypeError"
			switch m.runtime {
			case "node":
				literal = "is not a function" // the text of a TypeError in JavaScript
			case "java":
				literal = "ClassCastException"
			}
			wantSame(t, retries(t, m.hostOf(t, dir, append(env, more...)), literal), want)
		})
	}
}

// retryApp makes the app of retryFiles in a model.
func (m model) retryApp(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "app")
	files := map[string]string{"host.json": `{"version":"2.0"}`}
	if m.name == "custom" {
		files["host.json"] = m.hostFile()
		env = append(env, roleVariable+"=custom", "GORACE=atexit_sleep_ms=0")
	} else {
		m.sources(t, dir, "retries/"+m.name)
	}
	if !m.inCode() {
		for name, text := range m.retryFiles() {
			files[name] = text
		}
	}
	write(t, dir, files)
	m.libraries(t, dir)
	return dir, env
}

// retries has each function called once, and checks what must come of it. Literal is in
// the text of each failure of the function of that name.
func retries(t *testing.T, h *hosttest.Host, literal string) (lines []string) {
	t.Helper()
	attempts := map[string]int{"Fixed": 5, "Exponential": 6}
	for _, policy := range []string{"Fixed", "Exponential"} {
		name := strings.ToLower(policy)
		h.Send(name, "x")
		h.AwaitSettled(policy+"Queue", triggers.Deleted)
		h.SendServiceBus(name, &servicebus.Message{Body: []byte("x")})
		h.AwaitSettled(policy+"ServiceBus", triggers.Completed)
		if resp := h.RequestFor(time.Hour, "GET", "/api/"+policy+"Http", ""); resp.StatusCode >= http.StatusBadRequest {
			t.Errorf("%sHttp: %d", policy, resp.StatusCode)
		}
		for _, trigger := range []string{"Queue", "ServiceBus", "Http"} {
			h.WantDeliveries(policy+trigger, attempts[policy])
		}
	}
	h.WantWaits("FixedQueue", 10*time.Second, 10*time.Second, 10*time.Second, 10*time.Second)
	if resp := h.RequestFor(time.Hour, "GET", "/api/Literal", ""); resp.StatusCode != http.StatusInternalServerError {
		t.Errorf("Literal: %d, want 500", resp.StatusCode)
	}
	h.WantDeliveries("Literal", 5)
	for _, r := range h.Attempts("Literal") {
		if !strings.Contains(r.Error, literal) {
			t.Errorf("an attempt of Literal ends with %q, want %q in it", r.Error, literal)
		}
	}
	for _, policy := range []string{"Fixed", "Exponential"} {
		for _, trigger := range []string{"Queue", "ServiceBus", "Http"} {
			lines = append(lines, history(h, policy+trigger)...)
		}
	}
	return append(lines, history(h, "Literal")...)
}

// An edit takes over with the next attempt; one that breaks the app is refused, and what
// ran goes on.
func TestReload(t *testing.T) {
	t.Parallel()
	for _, m := range models() {
		if m.name == "custom" {
			continue // its program is not a script of the app
		}
		t.Run(m.title(), func(t *testing.T) {
			t.Parallel()
			env := m.need(t)
			dir, _ := m.retryApp(t)
			h := m.hostOf(t, dir, env)
			file := m.script()
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			said := func(want string) {
				t.Helper()
				n := len(h.Attempts("FixedQueue"))
				h.Send("fixed", "x")
				h.AwaitSettled("FixedQueue", triggers.Deleted)
				if got := h.Attempts("FixedQueue")[n].Error; !strings.Contains(got, want) {
					t.Errorf("an attempt in generation %d says %q, want %q in it", h.Generation(), got, want)
				}
			}
			said("attempt 1 fails;")
			edited := strings.ReplaceAll(string(text), "fails;", "fails, edited;")
			if m.runtime == "java" {
				edited = jarWith(t, "retries/java", "fails;", "fails, edited;")
			}
			if err := h.Edit(file, edited); err != nil {
				t.Fatal(err)
			}
			said("attempt 1 fails, edited;")
			if err := h.Edit(file, "(("); err == nil {
				t.Error("a broken edit was accepted")
			}
			said("attempt 1 fails, edited;")
			if h.Generation() != 2 {
				t.Errorf("generation %d, want 2", h.Generation())
			}
		})
	}
}

//clock:outside the platform's host is of the real world

package judge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/host/listen/listentest"
)

const (
	judgeVariable = "REDELIVER_JUDGE"
	keyVariable   = "REDELIVER_JUDGE_KEY"
	development   = "UseDevelopmentStorage=true"
)

// one at a time: a host of the platform takes a processor and some hundred megabytes.
var one sync.Mutex

// proof is what became of a good app under the command that is named: a command that
// starts no host looks like a host which an app has stopped.
var proof struct {
	sync.Once
	err error
}

// prove says what is wrong with the command that starts the platform's host, if it does
// not run a good app.
func prove(t *testing.T) error {
	t.Helper()
	proof.Do(func() {
		proof.err = errors.New("it was not asked to its end")
		t.Run("a good app", func(t *testing.T) {
			a := lay(t, []txtar.File{{Name: "host.json", Data: []byte(`{"version":"2.0"}`)}, {Name: "Good/function.json", Data: []byte(good)}}, "own")
			s := start(t, a.dir, "custom", a.env)
			switch function := s.function("Good"); {
			case s.state != "Running":
				proof.err = fmt.Errorf("the host's state is %s", s.state)
			case function != "runs":
				proof.err = fmt.Errorf("its function is %s", function)
			default:
				proof.err = nil
			}
			if proof.err != nil {
				t.Error(proof.err) // shows what the host wrote
			}
		})
	})
	if proof.err != nil {
		return fmt.Errorf("the command of %s runs no good app, so it judges nothing: %w", judgeVariable, proof.err)
	}
	return nil
}

// openTheirs runs the app of a folder under the platform's host until the test ends.
func openTheirs(t *testing.T, dir, runtime string, env []string) *subject {
	t.Helper()
	if os.Getenv(judgeVariable) == "" {
		t.Skipf("the variable %s names no command that starts the platform's host; its part was held against the tables of testdata", judgeVariable)
	}
	if err := prove(t); err != nil {
		t.Fatal(err)
	}
	return start(t, dir, runtime, env)
}

// start starts the platform's host. Nothing says when such a host is ready or has done
// with a message but its answers, so that this waits in real time; the tests of Redeliver
// alone never do.
func start(t *testing.T, dir, runtime string, env []string) *subject {
	t.Helper()
	one.Lock()
	t.Cleanup(one.Unlock)
	port := strconv.Itoa(listentest.FreePort())
	command := os.Getenv(judgeVariable)
	words := strings.Fields(command)
	for i, word := range words { // each by itself: a folder may have blanks in its name
		words[i] = strings.NewReplacer("{app}", dir, "{port}", port, "{runtime}", runtime).Replace(word)
	}
	cmd := exec.Command(words[0], words[1:]...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "AzureWebJobsStorage="+development, "FUNCTIONS_WORKER_RUNTIME="+runtime)
	cmd.Env = append(cmd.Env, env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	end := func(grace time.Duration) string {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(grace):
			_ = cmd.Process.Kill()
			<-ended
		}
		return fmt.Sprint(cmd.ProcessState.ExitCode())
	}
	t.Cleanup(func() {
		end(3 * time.Second)
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("the platform's host:\n%s", text[max(0, len(text)-4000):])
		}
	})
	s := &subject{patience: silence, // some answers of a handler leave that host without one
		url: "http://127.0.0.1:" + port, key: os.Getenv(keyVariable), inside: func(f func()) { f() }}
	s.stop = func() string { return end(time.Minute) }
	s.settle, s.lapse, s.pass = func() {}, func() { time.Sleep(250 * time.Millisecond) }, time.Sleep
	s.passing = func(f func()) { f() }
	s.state = s.ready(t, ended)
	if s.queues, err = azure.NewQueueAccount(development, nil); err != nil {
		t.Fatal(err)
	}
	if s.blobs, err = azure.NewBlobAccount(development, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// ready waits until the host runs, says that it does not, or ends. A host whose answers
// cannot be read, as with custom headers that are none, is Silent.
func (s *subject) ready(t *testing.T, ended <-chan struct{}) string {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		select {
		case <-ended:
			return "Ended"
		default:
		}
		text := s.get("/admin/host/status")
		for _, state := range []string{"Running", "Error"} {
			if !strings.Contains(text, fmt.Sprintf(`"state":%q`, state)) {
				continue
			}
			select { // some containers end the process a moment later
			case <-ended:
				return "Ended"
			case <-time.After(time.Second):
				return state
			}
		}
	}
	return "Silent"
}

// get is what the host answers to its administrator, empty when it does not.
func (s *subject) get(path string) string {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.url+path, nil)
	if err != nil {
		return ""
	}
	r.Header.Set("x-functions-key", s.key)
	resp, err := (&http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	return body(resp)
}

//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/run"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/listen/listentest"
)

func init() { fleetMain = func() { functions.Main(fleetApp()) } }

// fleetApp is the app of a fleet. It reports its work on its output.
func fleetApp() *functions.App {
	a := functions.New()
	a.ServiceBusQueue("Take", "work", func(_ context.Context, m functions.ServiceBusMessage) error {
		fmt.Println("done " + m.Text())
		return nil
	})
	a.Queue("Order", "orders", func(_ context.Context, m functions.QueueMessage) error {
		fmt.Println("done " + m.Text())
		return nil
	})
	a.Timer("Tick", "*/2 * * * * *", func(context.Context, functions.TimerInfo) error {
		fmt.Printf("tick %d\n", time.Now().Unix()/2)
		return nil
	})
	return a
}

// fleet are hosts, as processes, on the storage and the namespace of one of them.
type fleet struct {
	*testing.T
	dir         string
	ports       map[string]int
	storage, ns string // connection strings
	next        int    // number of a message

	mu      sync.Mutex
	changed *sync.Cond
	hosts   map[string]*fleetHost
	ended   string // the output of processes that have ended
}

type fleetHost struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

// fleetWriter is the output of one host.
type fleetWriter struct {
	f *fleet
	h *fleetHost
}

func (w fleetWriter) Write(b []byte) (int, error) {
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	w.h.out.Write(b)
	w.f.changed.Broadcast()
	return len(b), nil
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{T: t, dir: t.TempDir(), ports: map[string]int{}, hosts: map[string]*fleetHost{}}
	f.changed = sync.NewCond(&f.mu)
	for _, name := range []string{"blob", "queue", "bus"} {
		f.ports[name] = listentest.FreePort() // the owner takes them again after it was killed
	}
	t.Cleanup(func() {
		for name := range f.hosts {
			f.kill(name)
		}
		if t.Failed() {
			t.Log(f.ended)
		}
	})
	return f
}

// write gives a host its app.
func (f *fleet) write(name string) {
	f.Helper()
	dir := filepath.Join(f.dir, name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		f.Fatal(err)
	}
	for file, text := range map[string]string{
		"host.json": `{"version": "2.0", "customHandler": {"description": {"defaultExecutablePath": "fleet-handler"}},
			"extensions": {"queues": {"batchSize": 16}},
			"singleton": {"listenerLockPeriod": "00:00:15", "listenerLockRecoveryPollingInterval": "00:00:15"}}`,
		"local.settings.json": `{"IsEncrypted": false, "Values": {}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			f.Fatal(err)
		}
	}
}

// start runs a host until it is ended, and waits until it is ready. The owner, called
// "first", has the storage and the namespace, and no timer.
func (f *fleet) start(name string) {
	f.Helper()
	f.write(name)
	port := func(which string) string { return strconv.Itoa(f.ports[which]) }
	args := []string{"start", name, "--port", "0", "--servicebus-admin-port", "off"}
	storage, ns := f.storage, f.ns
	if name == "first" {
		storage, ns = "UseDevelopmentStorage=true", "Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=s;UseDevelopmentEmulator=true"
		args = append(args, "--blob-port", port("blob"), "--queue-port", port("queue"), "--servicebus-port", port("bus"), "--functions", "Take,Order")
	} else {
		args = append(args, "--blob-port", "off", "--queue-port", "off", "--servicebus-port", "off")
	}
	h := &fleetHost{cmd: exec.Command("redeliver", args...)}
	h.cmd.Dir = f.dir
	h.cmd.Env = append(os.Environ(), "AzureFunctionsWebHost__hostid=fleet", "AzureWebJobsStorage="+storage, "AzureWebJobsServiceBus="+ns)
	h.cmd.Stdout, h.cmd.Stderr = fleetWriter{f, h}, fleetWriter{f, h}
	h.cmd.WaitDelay = 5 * time.Second
	cli.OwnGroup(h.cmd)
	if err := h.cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.mu.Lock()
	f.hosts[name] = h
	f.mu.Unlock()
	f.wait(name+" to be ready", func() bool { return f.count(name, `ready in`) > 0 })
	if name == "first" && f.storage == "" {
		f.storage, f.ns = f.find(name, `^  storage +(Default\S+)$`), f.find(name, `^  servicebus +(Endpoint\S+)$`)
	}
}

func (f *fleet) find(name, expr string) string {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	found := regexp.MustCompile("(?m)" + expr).FindStringSubmatch(f.hosts[name].out.String())
	if found == nil {
		f.Fatalf("%s has not written %q:\n%s", name, expr, f.hosts[name].out.String())
	}
	return found[1]
}

// count is how often a host has written something since it was started.
func (f *fleet) count(name, expr string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(regexp.MustCompile("(?m)"+expr).FindAllString(f.hosts[name].out.String(), -1))
}

var batchSize = regexp.MustCompile(`"batchSize": \d+`)

// fleetPatience is how long something may take: longer than the lock of a message that a
// client took from the wire while its host stopped. Only a failing test waits that long.
const fleetPatience = 2 * time.Minute

// wait waits until something holds, looking whenever a host has written.
func (f *fleet) wait(what string, holds func() bool) {
	f.Helper()
	late := false
	timer := time.AfterFunc(fleetPatience, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		late = true
		f.changed.Broadcast()
	})
	defer timer.Stop()
	for {
		if holds() {
			return
		}
		f.mu.Lock()
		if late {
			f.mu.Unlock()
			f.Fatalf("waited for %s for %v", what, fleetPatience)
		}
		f.changed.Wait()
		f.mu.Unlock()
	}
}

// end takes a host's process away.
func (f *fleet) end(name string) {
	h := f.hosts[name]
	_ = h.cmd.Wait() // the exit code tells the signal
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended += fmt.Sprintf("[%s]\n%s", name, h.out.String())
	delete(f.hosts, name)
}

func (f *fleet) kill(name string) {
	_ = syscall.Kill(-f.hosts[name].cmd.Process.Pid, syscall.SIGKILL)
	f.end(name)
}

// stop presses Ctrl+C, and reports how long the host took to end.
func (f *fleet) stop(name string) time.Duration {
	begun := time.Now()
	_ = f.hosts[name].cmd.Process.Signal(os.Interrupt)
	f.end(name)
	return time.Since(begun)
}

// freeze stops a host and its handlers in the middle of what they do, as the sleep of
// a machine does; thaw lets them go on.
func (f *fleet) freeze(name string) { f.signal(name, syscall.SIGSTOP) }
func (f *fleet) thaw(name string)   { f.signal(name, syscall.SIGCONT) }

func (f *fleet) signal(name string, s syscall.Signal) {
	f.Helper()
	if err := syscall.Kill(-f.hosts[name].cmd.Process.Pid, s); err != nil {
		f.Fatal(err)
	}
}

// reload edits a host's app and waits for the next generation: it changes the
// number in its host.json.
func (f *fleet) reload(name string) {
	f.Helper()
	n := f.count(name, `reloaded`)
	file := filepath.Join(f.dir, name, "host.json")
	text, err := os.ReadFile(file)
	if err == nil {
		f.next++
		size := fmt.Appendf(nil, `"batchSize": %d`, 1+f.next%15)
		if bytes.Contains(text, size) {
			size = []byte(`"batchSize": 17`)
		}
		text = batchSize.ReplaceAll(text, size)
		err = os.WriteFile(file, text, 0o666)
	}
	if err != nil {
		f.Fatal(err)
	}
	f.wait(name+" to reload", func() bool { return f.count(name, `reloaded`) > n })
}

// send sends messages to the namespace and to the storage, when they are there, and
// returns what they say.
func (f *fleet) send(n int) (sent []string) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), fleetPatience)
	defer cancel()
	c := run.NewCloud(nil)
	defer c.Close()
	queues, err := c.Queues(appsettings.Connection{Setting: "storage", Value: f.storage}, nil)
	if err != nil {
		f.Fatal(err)
	}
	bus, err := c.ServiceBus(appsettings.Connection{Setting: "bus", Value: f.ns}, nil)
	if err != nil {
		f.Fatal(err)
	}
	put := func(what string, call func() error) {
		f.Helper()
		err := call()
		for errors.Is(err, bindings.ErrUnavailable) { // the client waits before it says so
			err = call()
		}
		if err != nil {
			f.Fatalf("%s: %v", what, err)
		}
	}
	put("create", func() error { return queues.Queue("orders").Create(ctx) })
	for range n {
		f.next++
		text := fmt.Sprintf("m%d", f.next)
		sent = append(sent, "bus-"+text, "queue-"+text)
		put("send", func() error {
			return bus.Send(ctx, "work", &servicebus.Message{MessageID: text, Body: []byte("bus-" + text)})
		})
		put("put", func() error {
			_, err := queues.Queue("orders").Put(ctx, queue.Base64.Encode([]byte("queue-"+text)), nil)
			return err
		})
	}
	return sent
}

// all is the output of the hosts.
func (f *fleet) all() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := f.ended
	for _, h := range f.hosts {
		text += h.out.String()
	}
	return text
}

// done waits until every message has been done, somewhere.
func (f *fleet) done(sent []string) {
	f.Helper()
	f.wait("all to be done", func() bool {
		text := f.all()
		for _, m := range sent {
			if !strings.Contains(text, "done "+m+"\n") {
				return false
			}
		}
		return true
	})
}

// shared sends messages until each of the hosts has done some of the namespace's. The
// owner of the storage need not leave others any of its queue.
func (f *fleet) shared(names ...string) {
	f.Helper()
	before := map[string]int{}
	for _, name := range names {
		before[name] = f.count(name, `done bus-`)
	}
	// A host that has lost its connection dials again after some seconds.
	for begin := time.Now(); time.Since(begin) < fleetPatience; {
		f.done(f.send(10))
		missing := 0
		for _, name := range names {
			if f.count(name, `done bus-`) == before[name] {
				missing++
			}
		}
		if missing == 0 {
			return
		}
	}
	f.Fatalf("in %v not every host of %v got some messages", fleetPatience, names)
}

// settled waits until a host has settled all of the namespace's messages that it has done.
func (f *fleet) settled(name string) {
	f.Helper()
	f.wait(name+" to settle", func() bool {
		return f.count(name, `Take +\S+ +completed`) >= f.count(name, `done bus-`)
	})
}

// ticksOnce checks that no tick ran twice.
func (f *fleet) ticksOnce() {
	f.Helper()
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`tick \d+\n`).FindAllString(f.all(), -1) {
		seen[m]++
		if seen[m] == 2 {
			f.Errorf("%q ran twice", strings.TrimSpace(m))
		}
	}
}

// outages checks that a host told of a number of outages of each account, of the end of
// each, and of no listener.
func (f *fleet) outages(name string, want int) {
	f.Helper()
	for _, setting := range []string{"AzureWebJobsStorage", "AzureWebJobsServiceBus"} {
		f.wait(name+" to tell of "+setting, func() bool { return f.count(name, setting+` back`) >= want })
		for _, what := range []string{"unreachable", "back"} {
			if got := f.count(name, setting+" "+what); got != want {
				f.Errorf("%s wrote %d times that %s is %s, want %d", name, got, setting, what, want)
			}
		}
	}
	if n := f.count(name, `listener failed`); n != 0 {
		f.Errorf("%s wrote %d times that a listener failed", name, n)
	}
}

// Three hosts on the storage and the namespace of the first, through kill, restart,
// SIGSTOP and reload: every message is done, ticks run once, and an outage has one line
// at its begin and one at its end. REDELIVER_FLEET does all of it to each host, in turn.
func TestThreeHostsThroughFaults(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	names := []string{"first", "second", "third"}
	for _, name := range names {
		f.start(name)
	}
	f.wait("the timer", func() bool { return f.count("second", `tick \d`) > 0 || f.count("third", `tick \d`) > 0 })
	f.shared(names...)

	// The owner dies, and comes back at its ports, with its data.
	f.kill("first")
	f.wait("the outage to be told", func() bool {
		return f.count("second", "AzureWebJobsServiceBus unreachable") > 0 && f.count("third", "AzureWebJobsServiceBus unreachable") > 0
	})
	f.start("first")
	for _, name := range []string{"second", "third"} {
		f.outages(name, 1)
	}
	f.shared(names...)

	// The host that has the timer sleeps: another takes it, and the sleeper has
	// nothing to run when it wakes.
	holder, other := "second", "third"
	if f.count("third", `tick \d`) > f.count("second", `tick \d`) {
		holder, other = other, holder
	}
	ticks := f.count(other, `tick \d`)
	f.freeze(holder)
	f.wait(other+" to have the timer", func() bool { return f.count(other, `tick \d`) > ticks+1 })
	f.thaw(holder)
	f.wait(holder+" to tell of its lock", func() bool { return f.count(holder, `Tick +lock lost`) > 0 })
	f.shared(names...)

	for _, name := range names {
		f.reload(name)
	}
	f.stop("second")
	f.start("second")
	f.shared(names...)

	if os.Getenv("REDELIVER_FLEET") != "" {
		f.soak(names)
	}
	f.ticksOnce()
}

// soak does everything to each host.
func (f *fleet) soak(names []string) {
	for _, name := range names {
		for what, fault := range map[string]func(){
			"kill":   func() { f.kill(name); f.start(name) },
			"stop":   func() { f.stop(name); f.start(name) },
			"reload": func() { f.reload(name) },
			"sleep": func() {
				f.freeze(name)
				<-time.After(20 * time.Second) // longer than the timer's lock lasts: what the soak is about
				f.thaw(name)
			},
		} {
			f.Logf("%s %s", what, name)
			var sent []string
			if name != "first" {
				sent = f.send(20)
			}
			if what == "kill" {
				f.done(sent) // what it has in work stays hidden for ten minutes
			}
			fault()
			f.done(sent)
			f.shared(names...)
		}
	}
}

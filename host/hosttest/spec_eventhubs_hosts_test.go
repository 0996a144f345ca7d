package hosttest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
)

// EventHubs is for hosts that share storage only.
func (s sharedStorage) EventHubs(appsettings.Connection) (eventhubsapi.Namespace, error) {
	return nil, errors.New("no Event Hubs here")
}

// sharedHubs is one embedded account and one namespace for several hosts.
type sharedHubs struct {
	sharedStorage
	hubs *eventhubs.Namespace
}

func (s sharedHubs) EventHubs(appsettings.Connection) (eventhubsapi.Namespace, error) {
	return s.hubs, nil
}

// Two hosts share the partitions. The second one takes half of them from the first; a
// batch that is being retried there loses its token and has no checkpoint, and the
// second host runs it again with count 0. When one stops, the other has everything.
func TestEventHubTwoHosts(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(hosttest.Start, &clock.VirtualOptions{Strict: true})
	shared := sharedHubs{sharedStorage{storage.New(clk, nil)}, eventhubs.New(clk, nil)}
	do := func(f func(ctx context.Context) error) {
		t.Helper()
		clk.Do("test", func() {
			if err := f(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	do(func(ctx context.Context) error {
		return shared.hubs.CreateHub(ctx, eventhubs.Hub{Name: "orders", Partitions: 2})
	})
	var got []string
	start := func(name string) *host.Host {
		t.Helper()
		handlers := functions.New()
		handlers.EventHubBatch("Read", "orders", func(ctx context.Context, p functions.EventHubPartition, events []functions.EventHubEvent) error {
			got = append(got, fmt.Sprintf("%s %s:%s/%d", name, p.PartitionID, bodiesOf(events), functions.Retry(ctx).RetryCount))
			if events[0].Text() == "bad" {
				return errors.New("cannot read it")
			}
			return nil
		}, functions.FixedDelay(2, 8*time.Second))
		h, err := host.New(t.TempDir(), &host.Options{
			Clock: clk, KeepRecords: -1, Services: shared, Instance: name, Handlers: handlers,
			Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true", "AzureWebJobsEventHub=" + hosttest.EventHubConnection, "AzureFunctionsWebHost__hostid=shared"},
		})
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("start", func() { err = h.Start(context.Background()) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	send := func(partition, body string) {
		t.Helper()
		do(func(ctx context.Context) error {
			return shared.hubs.SendEvents(ctx, "orders", &eventhubsapi.SendOptions{PartitionID: partition}, &eventhubsapi.Event{Body: []byte(body)})
		})
	}
	want := func(lines ...string) {
		t.Helper()
		if diff := cmp.Diff(lines, got); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
		got = nil
	}
	first := start("first")
	send("0", "a")
	clk.Advance(20 * time.Second)
	send("1", "bad")
	want("first 0:a/0", "first 1:bad/0")
	second := start("second")
	want("second 1:bad/0")
	clk.Advance(11 * time.Second) // the first host looks, and finds out
	want("first 1:bad/1", "second 1:bad/1")
	clk.Advance(10 * time.Second)
	want("second 1:bad/2")
	send("0", "b")
	send("1", "c")
	want("first 0:b/0", "second 1:c/0")
	for _, test := range []struct {
		h    *host.Host
		want string
	}{{first, "checkpointed not_checkpointed checkpointed"}, {second, "checkpointed checkpointed"}} {
		var decisions []string
		for _, r := range test.h.Journal().Records() {
			if r.Kind == journal.Settled {
				decisions = append(decisions, r.Decision)
			}
		}
		if got := strings.Join(decisions, " "); got != test.want {
			t.Errorf("settlements %q, want %q", got, test.want)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	clk.Advance(31 * time.Second)
	send("0", "d")
	want("second 0:d/0")
}

// killVariable makes the test binary a host that works on the store in that directory
// until it is killed.
const killVariable = "HOSTTEST_KILL"

// keptHub starts a host whose storage is kept in db; its function Read fails, and tells
// of each attempt.
func keptHub(dir string, db *store.Store, clk clock.Clock, told func(string)) (*host.Host, error) {
	handlers := functions.New()
	handlers.EventHubBatch("Read", "orders", func(ctx context.Context, _ functions.EventHubPartition, events []functions.EventHubEvent) error {
		told(fmt.Sprintf("%s/%d", bodiesOf(events), functions.Retry(ctx).RetryCount))
		if events[0].Text() == "bad" {
			return errors.New("cannot read it")
		}
		return nil
	}, functions.FixedDelay(4, time.Hour))
	h, err := host.New(dir, &host.Options{
		Clock: clk, Store: db, Instance: "me", Handlers: handlers, KeepRecords: -1,
		Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true", "AzureWebJobsEventHub=" + hosttest.EventHubConnection},
	})
	if err != nil {
		return nil, err
	}
	return h, h.Start(context.Background())
}

// retryUntilKilled runs a host whose second batch waits for its retry.
func retryUntilKilled(dir string) error {
	db, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	appDir, err := os.MkdirTemp(dir, "..app") // beside what the store knows
	if err != nil {
		return err
	}
	if err := os.WriteFile(appDir+"/host.json", []byte(oneHub("")["host.json"]), 0o644); err != nil {
		return err
	}
	h, err := keptHub(appDir, db, nil, func(string) {})
	if err != nil {
		return err
	}
	for _, body := range []string{"good", "bad"} {
		h.Clock().Inside("send", func() {
			err = h.Services().EventHubs().SendEvents(context.Background(), "orders", nil, &eventhubsapi.Event{Body: []byte(body)})
		})
		if err != nil {
			return err
		}
		kind := journal.Settled
		if body == "bad" {
			kind = journal.RetryScheduled
		}
		if _, err := h.Journal().Wait(context.Background(), func(r *journal.Record) bool { return r.Kind == kind }); err != nil {
			return err
		}
	}
	fmt.Println("waiting")
	select {} // until it is killed
}

// A host that is killed in the retry wait: the next one begins behind the last
// checkpoint, with count 0 (issue, acceptance; spec host-and-retry 4.2).
func TestEventHubKilledInTheRetryWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killVariable+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killErr := child.Process.Kill(); killErr != nil {
		t.Errorf("kill: %v", killErr)
	}
	_ = child.Wait() // it was killed
	if err != nil || line != "waiting\n" {
		t.Fatalf("the process said %q, %v", line, err)
	}

	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin, err := services.StartTime(db)
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewVirtual(begin, &clock.VirtualOptions{Strict: true})
	var got []string
	appDir := t.TempDir()
	if err := os.WriteFile(appDir+"/host.json", []byte(oneHub("")["host.json"]), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := keptHub(appDir, db, clk, func(line string) { got = append(got, line) })
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	clk.Advance(5 * time.Hour)
	if diff := cmp.Diff([]string{"bad/0", "bad/1", "bad/2", "bad/3", "bad/4"}, got); diff != "" {
		t.Errorf("attempts after the kill (-want +got):\n%s", diff)
	}
}

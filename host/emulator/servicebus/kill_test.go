package servicebus_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

// The test binary is also the process that is killed: with this in its
// environment it works on the namespace in that directory until then.
const killDir = "REDELIVER_TEST_KILL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		fmt.Println("error", workUntilKilled(dir))
		os.Exit(1)
	}
	leaktest.Main(m)
}

// workUntilKilled runs 16 clients that send, receive and settle at random, and
// says on standard output what it is about to do to a message and what has been
// acknowledged.
func workUntilKilled(dir string) error {
	db, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	ns, err := servicebus.Open(clock.System(), db, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	_, err = ns.CreateQueue(ctx, bindings.ServiceBusQueue{Name: "q", MaxDeliveryCount: 5, LockDuration: 5 * time.Minute})
	if err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return err
	}
	r, err := ns.Receiver(ctx, "q", nil)
	if err != nil {
		return err
	}
	var out sync.Mutex
	say := func(words ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(words...)
	}
	client := func(w int) error {
		random := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(w)))
		for i := 0; ; i++ {
			id := fmt.Sprintf("%d-%d-%d", os.Getpid(), w, i)
			say("sending", id)
			if err := ns.Send(ctx, "q", &bindings.ServiceBusMessage{MessageID: id, Body: make([]byte, random.IntN(3000))}); err != nil {
				return err
			}
			say("sent", id)
			ms, err := r.Receive(ctx, 1+random.IntN(3), 0)
			if err != nil {
				return err
			}
			for _, m := range ms {
				say("locked", m.MessageID, m.DeliveryCount, m.LockToken)
				var err error
				switch random.IntN(4) {
				case 0:
					say("abandoning", m.MessageID)
					if err = r.Abandon(ctx, m, nil); err == nil {
						say("abandoned", m.MessageID, m.DeliveryCount+1)
					}
				case 1: // stays locked
				default:
					say("completing", m.MessageID)
					if err = r.Complete(ctx, m); err == nil {
						say("completed", m.MessageID)
					}
				}
				if err != nil {
					return err
				}
			}
		}
	}
	var group sync.WaitGroup
	failed := make(chan error, 16)
	for w := range 16 {
		group.Go(func() { failed <- client(w) })
	}
	return <-failed
}

// fate is what the oracle knows of one message.
type fate struct {
	sent, completing, completed bool

	count int64  // failed deliveries acknowledged, at least
	token string // of the lock that was acknowledged last; empty when it may be gone
}

// TestKill kills a process with 16 clients again and again. After each kill every
// message whose send was acknowledged is there once, in the queue or its
// dead-letter queue; none that was completed is; no delivery that failed is
// forgotten; and what was locked is locked still, under the same token.
// REDELIVER_KILLS sets the number of rounds.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := 10
	if n, err := strconv.Atoi(os.Getenv("REDELIVER_KILLS")); err == nil {
		rounds = n
	}
	dir := t.TempDir()
	fates := map[string]*fate{}
	random := rand.New(rand.NewPCG(1, 2))
	acknowledged := 0
	for round := range rounds {
		acknowledged += runAndKill(t, dir, 200+random.IntN(3000), fates)
		checkFates(t, dir, fates)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("%d rounds, %d messages, %d lines acknowledged", rounds, len(fates), acknowledged)
}

// runAndKill lets a process say n lines, kills it, and hears what it had still
// said.
func runAndKill(t *testing.T, dir string, n int, fates map[string]*fate) (lines int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killDir+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			if err != io.EOF && !errors.Is(err, os.ErrClosed) {
				t.Errorf("hear the process: %v", err)
			}
			break
		}
		note(t, fates, strings.Fields(line))
		if lines++; lines == n {
			if err := child.Process.Kill(); err != nil {
				t.Errorf("kill: %v", err)
			}
		}
	}
	_ = child.Wait() // it was killed
	return lines
}

func note(t *testing.T, fates map[string]*fate, words []string) {
	t.Helper()
	if words[0] == "error" {
		t.Errorf("the process failed: %q", words)
		return
	}
	f := fates[words[1]]
	if f == nil {
		f = &fate{}
		fates[words[1]] = f
	}
	switch words[0] {
	case "sent":
		f.sent = true
	case "locked": // may be said after a later one of another client
		if n, _ := strconv.ParseInt(words[2], 10, 64); n >= f.count {
			f.count, f.token = n, words[3]
		}
	case "abandoning":
		f.token = ""
	case "abandoned":
		n, _ := strconv.ParseInt(words[2], 10, 64)
		f.count = max(f.count, n)
	case "completing":
		f.completing, f.token = true, ""
	case "completed":
		f.completed = true
	}
}

// checkFates compares the namespace with what the oracle knows. What has a lock
// is locked still: minutes have not passed.
func checkFates(t *testing.T, dir string, fates map[string]*fate) {
	t.Helper()
	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	defer db.Close()
	ns, err := servicebus.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	there := servicebus.Locks(ns)
	for id, f := range fates {
		m, ok := there[id]
		switch {
		case m.Copies > 1:
			t.Errorf("message %s is there %d times", id, m.Copies)
		case f.completed && ok:
			t.Errorf("message %s was completed and is there", id)
		case !ok && f.sent && !f.completing:
			t.Errorf("message %s was sent and is gone", id)
		case ok && m.Count < f.count:
			t.Errorf("message %s failed %d times, the namespace says %d", id, f.count, m.Count)
		case ok && f.token != "" && m.Count == f.count && m.Token != f.token:
			t.Errorf("message %s has lost its lock %s", id, f.token)
		}
	}
}

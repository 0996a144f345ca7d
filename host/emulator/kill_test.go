package emulator_test

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
	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// The test binary is also the process that is killed: with this in its
// environment it works on the account in that directory until then.
const killDir = "REDELIVER_TEST_KILL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		work := workUntilKilled
		if os.Getenv(killBlobs) != "" {
			work = writeBlobsUntilKilled
		}
		fmt.Println("error", work(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// workUntilKilled runs 16 workers that put, receive, update and delete at
// random, and says on standard output what it is about to do to a message and
// what has been acknowledged.
func workUntilKilled(dir string) error {
	db, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	s, err := emulator.Open(clock.System(), db, nil)
	if err != nil {
		return err
	}
	ctx, q := context.Background(), s.Queue("orders")
	if err := q.Create(ctx); err != nil {
		return err
	}
	var out sync.Mutex
	say := func(words ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(words...)
	}
	var group sync.WaitGroup
	failed := make(chan error, 16)
	for w := range 16 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(w)))
			for i := 0; ; i++ {
				text := fmt.Sprintf("%d-%d-%d", os.Getpid(), w, i) + strings.Repeat("x", random.IntN(3000))
				m, err := q.Put(ctx, text, nil)
				if err != nil {
					failed <- err
					return
				}
				say("put", m.ID, len(text))
				ms, err := q.Receive(ctx, 1+random.IntN(3), time.Minute)
				if err != nil {
					failed <- err
					return
				}
				for _, m := range ms {
					say("received", m.ID, m.DequeueCount, m.PopReceipt)
					var err error
					switch random.IntN(3) {
					case 0:
						say("updating", m.ID)
						var u *bindings.QueueMessage
						if u, err = q.Update(ctx, m.ID, m.PopReceipt, nil, time.Hour); err == nil {
							say("updated", m.ID, m.DequeueCount, u.PopReceipt)
						}
					default:
						say("deleting", m.ID)
						if err = q.Delete(ctx, m.ID, m.PopReceipt); err == nil {
							say("deleted", m.ID)
						}
					}
					if err != nil {
						failed <- err
						return
					}
				}
			}
		})
	}
	return <-failed
}

// fate is what the oracle knows of one message.
type fate struct {
	size     int
	count    int64  // dequeues acknowledged, at least
	receipt  string // the last one acknowledged; empty when a later one may exist
	deleting bool
	deleted  bool
}

// TestKill kills a process with 16 writers again and again. After each kill
// every acknowledged put is there, every acknowledged delete is gone, and no id
// has come twice. REDELIVER_KILLS sets the number of rounds, 20 unless it does.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := killRounds()
	var dir string
	var fates map[string]*fate
	random := rand.New(rand.NewPCG(1, 2))
	acknowledged := 0
	for round := range rounds {
		if round%killsOfOne == 0 {
			dir, fates = t.TempDir(), map[string]*fate{}
		}
		acknowledged += runAndKill(t, dir, 200+random.IntN(3000), "", func(words []string) { note(t, fates, words) })
		checkFates(t, dir, fates)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("%d rounds, %d lines acknowledged", rounds, acknowledged)
}

// killsOfOne is after how many kills a test begins with another directory: what
// there is to check grows with each.
const killsOfOne = 20

func killRounds() int {
	if n, err := strconv.Atoi(os.Getenv("REDELIVER_KILLS")); err == nil {
		return n
	}
	return 20
}

// runAndKill lets a process say n lines, kills it, and hears what it had still
// said.
func runAndKill(t *testing.T, dir string, n int, env string, hear func(words []string)) (lines int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killDir+"="+dir, env)
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
		hear(strings.Fields(line))
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
	if words[0] == "put" {
		size, _ := strconv.Atoi(words[2])
		if fates[words[1]] != nil && fates[words[1]].size != 0 {
			t.Errorf("id %s was given twice", words[1])
		}
		if fates[words[1]] == nil {
			fates[words[1]] = &fate{}
		}
		fates[words[1]].size = size
		return
	}
	if words[0] == "error" {
		t.Errorf("the process failed: %q", words)
		return
	}
	f := fates[words[1]]
	if f == nil { // received by one worker before the one that put it said so
		f = &fate{}
		fates[words[1]] = f
	}
	switch words[0] {
	case "received", "updated":
		f.count, _ = strconv.ParseInt(words[2], 10, 64)
		f.receipt = words[3]
	case "updating":
		f.receipt = ""
	case "deleting":
		f.deleting = true
	case "deleted":
		f.deleted = true
	}
}

// checkFates compares the account with what the oracle knows. What has a lock
// is locked still: minutes have not passed.
func checkFates(t *testing.T, dir string, fates map[string]*fate) {
	t.Helper()
	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	defer db.Close()
	s, err := emulator.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	there := emulator.Messages(s, "orders")
	for id, f := range fates {
		m, ok := there[id]
		switch {
		case f.deleted && ok:
			t.Errorf("message %s was deleted and is there", id)
		case !ok && !f.deleting:
			t.Errorf("message %s was put and is gone", id)
		case ok && f.size != 0 && len(m.Text) != f.size:
			t.Errorf("message %s has %d bytes, want %d", id, len(m.Text), f.size)
		case ok && m.DequeueCount < f.count:
			t.Errorf("message %s was received %d times, the account says %d", id, f.count, m.DequeueCount)
		case ok && f.receipt != "" && m.DequeueCount == f.count && m.PopReceipt != f.receipt:
			t.Errorf("message %s has lost the receipt %s", id, f.receipt)
		}
	}
}

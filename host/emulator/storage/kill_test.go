package storage_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Child(map[string]storetest.Work{"queue": workUntilKilled, "blobs": writeBlobsUntilKilled, "tables": writeTablesUntilKilled})
	os.Exit(m.Run())
}

// workUntilKilled has workers that put, receive, update and delete at random, and
// say what they are about to do to a message and what has been acknowledged.
func workUntilKilled(ctx context.Context, db *store.Store) (func(*storetest.Writer) error, error) {
	s, err := storage.Open(clock.System(), db, nil)
	if err != nil {
		return nil, err
	}
	q := s.Queue("orders")
	if err := q.Create(ctx); err != nil {
		return nil, err
	}
	return func(w *storetest.Writer) error {
		for i := 0; ; i++ {
			text := fmt.Sprintf("%d-%d-%d", w.Process, w.Number, i) + strings.Repeat("x", w.IntN(3000))
			m, err := q.Put(ctx, text, nil)
			if err != nil {
				return err
			}
			w.Say("put", m.ID, len(text))
			ms, err := q.Receive(ctx, 1+w.IntN(3), time.Minute)
			if err != nil {
				return err
			}
			for _, m := range ms {
				w.Say("received", m.ID, m.DequeueCount, m.PopReceipt)
				var err error
				switch w.IntN(3) {
				case 0:
					w.Say("updating", m.ID)
					var u *queue.Message
					if u, err = q.Update(ctx, m.ID, m.PopReceipt, nil, time.Hour); err == nil {
						w.Say("updated", m.ID, m.DequeueCount, u.PopReceipt)
					}
				default:
					w.Say("deleting", m.ID)
					if err = q.Delete(ctx, m.ID, m.PopReceipt); err == nil {
						w.Say("deleted", m.ID)
					}
				}
				if err != nil {
					return err
				}
			}
		}
	}, nil
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
// has come twice. REDELIVER_KILLS sets the number of rounds.
func TestKill(t *testing.T) {
	t.Parallel()
	var fates map[string]*fate
	storetest.Kills{
		Work: "queue", Rounds: 20, Lines: 300, RoundsOfOne: killsOfOne,
		Forget: func() { fates = map[string]*fate{} },
		Hear:   func(words []string) { note(t, fates, words) },
		Check:  func(db *store.Store) { checkFates(t, db, fates) },
	}.Run(t)
}

// killsOfOne is after how many kills a test begins with another directory.
const killsOfOne = 20

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
	f := fates[words[1]]
	if f == nil { // received by one worker before its sender was told
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

// checkFates compares the account with what the oracle knows. A locked message
// is still locked: minutes have not passed.
func checkFates(t *testing.T, db *store.Store, fates map[string]*fate) {
	t.Helper()
	s, err := storage.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	ctx, there := context.Background(), map[string]*queue.Message{}
	list, err := s.QueueMessages(ctx, "orders", math.MaxInt, func(*queue.Message) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		there[m.ID] = m
	}
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
		case ok && f.receipt != "" && m.DequeueCount == f.count:
			m, err := s.Queue("orders").Update(ctx, id, f.receipt, nil, time.Hour)
			if err != nil {
				t.Fatalf("message %s has lost the receipt %s: %v", id, f.receipt, err)
			}
			f.receipt = m.PopReceipt
		}
	}
}

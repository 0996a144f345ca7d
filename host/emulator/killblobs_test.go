package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// killBlobs in the environment makes the process write blobs, not messages.
const killBlobs = "REDELIVER_TEST_KILL_BLOBS"

// bodyOf is the content that belongs to a tag: small or large, by its tag.
func bodyOf(tag string) string {
	n := 10 + len(tag)*7
	if strings.HasSuffix(tag, "0") {
		n = 50_000 // a file
	}
	return strings.Repeat(tag+"|", n/len(tag)+1)
}

// writeBlobsUntilKilled runs 16 workers, each with eight blobs of its own, which
// it puts, appends to, commits from blocks and deletes at random.
func writeBlobsUntilKilled(dir string) error {
	db, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	s, err := emulator.Open(clock.System(), db, nil)
	if err != nil {
		return err
	}
	ctx, c := context.Background(), s.Container("docs")
	if _, err := c.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
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
				name := fmt.Sprintf("w%d-%d", w, random.IntN(8))
				tag := fmt.Sprintf("%d.%d.%d", os.Getpid(), w, i)
				if err := writeBlob(ctx, c.Blob(name), random.IntN(4), tag, func(what string) { say(what, name, tag) }); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	return <-failed
}

// writeBlob says what it is about to do, does it, and says that it is done.
func writeBlob(ctx context.Context, b bindings.Blob, how int, tag string, say func(what string)) error {
	body := bodyOf(tag)
	var err error
	switch how {
	case 0:
		say("deleting")
		if err = b.Delete(ctx, nil); errors.Is(err, bindings.ErrNotFound) {
			err = nil
		}
		if err == nil {
			say("deleted")
		}
		return err
	case 1:
		say("writing")
		if _, err = b.PutBlock(ctx, "AAAA", strings.NewReader(body[:len(body)/2]), nil); err == nil {
			if _, err = b.PutBlock(ctx, "BBBB", strings.NewReader(body[len(body)/2:]), nil); err == nil {
				_, err = b.PutBlockList(ctx, []bindings.BlockRef{{ID: "AAAA"}, {ID: "BBBB"}}, nil)
			}
		}
	default:
		say("writing")
		_, err = b.Put(ctx, strings.NewReader(body), nil)
	}
	if err == nil {
		say("written")
	}
	return err
}

// blobFate is what a blob may be: what was acknowledged last, or what was under
// way.
type blobFate struct{ acknowledged, underWay string } // tags; empty: no blob

// TestKillBlobs is TestKill for blobs: after each kill every blob is what was
// acknowledged last, or what was under way, as a whole.
func TestKillBlobs(t *testing.T) {
	t.Parallel()
	var dir string
	var fates map[string]*blobFate
	random := rand.New(rand.NewPCG(3, 4))
	for round := range killRounds() {
		if round%killsOfOne == 0 {
			dir, fates = t.TempDir(), map[string]*blobFate{}
		}
		runAndKill(t, dir, 100+random.IntN(1000), killBlobs+"=1", func(words []string) {
			if words[0] == "error" {
				t.Errorf("the process failed: %q", words)
				return
			}
			f := fates[words[1]]
			if f == nil {
				f = &blobFate{}
				fates[words[1]] = f
			}
			switch words[0] {
			case "writing":
				f.underWay = words[2]
			case "deleting":
				f.underWay = ""
			case "written":
				f.acknowledged = words[2]
			case "deleted":
				f.acknowledged = ""
			}
		})
		checkBlobs(t, dir, fates)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

func checkBlobs(t *testing.T, dir string, fates map[string]*blobFate) {
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
	for name, f := range fates {
		got := ""
		d, err := s.Container("docs").Blob(name).Get(context.Background(), nil)
		switch {
		case err == nil:
			body, err := io.ReadAll(d.Body)
			if err = errors.Join(err, d.Body.Close()); err != nil {
				t.Fatalf("read %s: %v", name, err)
			}
			got, _, _ = strings.Cut(string(body), "|")
			if string(body) != bodyOf(got) {
				t.Errorf("blob %s: %d bytes that belong to no write", name, len(body))
			}
		case !errors.Is(err, bindings.ErrNotFound):
			t.Fatalf("read %s: %v", name, err)
		}
		if got != f.acknowledged && got != f.underWay {
			t.Errorf("blob %s is %q, want %q, which was acknowledged, or %q, which was under way", name, got, f.acknowledged, f.underWay)
		}
		f.acknowledged, f.underWay = got, got
	}
}

// Package storetest is for tests of services that are kept in a store: their
// processes are killed, and their disks refuse.
//
// A test of kills ([Kills]) has two sides in one test binary. The child, which
// TestMain starts through [Child], works until it is killed, and says what it is
// about to do and what has been acknowledged. The test hears it ([Kills.Run]) and
// compares with what it then finds in the store.
package storetest

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

	"github.com/redeliver/redeliver/host/emulator/store"
)

// In the environment of the process that is killed.
const (
	killDir  = "REDELIVER_TEST_KILL"
	killWork = "REDELIVER_TEST_KILL_WORK"
)

// writers work at one time in the process that is killed.
const writers = 16

// Writer is one of the writers in the process that is killed.
type Writer struct {
	*rand.Rand

	// Number is the writer's, from 0. Names that begin with Process and Number
	// are its own.
	Number, Process int

	out *sync.Mutex
}

// Say tells the test a line of words.
func (w *Writer) Say(words ...any) {
	w.out.Lock()
	defer w.out.Unlock()
	fmt.Println(words...)
}

// Work opens a service in a store and returns what each writer does: without end,
// unless something fails.
type Work func(ctx context.Context, db *store.Store) (func(w *Writer) error, error)

// Child does not return in a process that is to be killed. TestMain calls it first,
// with the kinds of work by name.
func Child(works map[string]Work) {
	dir := os.Getenv(killDir)
	if dir == "" {
		return
	}
	fmt.Println("error", work(dir, works[os.Getenv(killWork)]))
	os.Exit(1)
}

func work(dir string, begin Work) error {
	db, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	writer, err := begin(context.Background(), db)
	if err != nil {
		return err
	}
	var out sync.Mutex
	var group sync.WaitGroup
	failed := make(chan error, writers)
	for n := range writers {
		w := &Writer{Rand: rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(n))), Number: n, Process: os.Getpid(), out: &out}
		group.Go(func() { failed <- writer(w) })
	}
	return <-failed
}

// Kills is a test of kills.
type Kills struct {
	// Work is the name under which Child knows it.
	Work string

	// Rounds unless REDELIVER_KILLS sets the number.
	Rounds int

	// Lines that the process says before it is killed: at least this many, and up
	// to ten times as many.
	Lines int

	// Each directory is used for so many rounds: what there is to check grows with
	// each. Forget is called when another is begun.
	RoundsOfOne int
	Forget      func()

	// Hear is told each line, of at least one word.
	Hear func(words []string)

	// Check compares the store with what was heard.
	Check func(db *store.Store)
}

// Run kills a process again and again, and checks after each kill.
func (k Kills) Run(t *testing.T) {
	t.Helper()
	rounds := k.Rounds
	if n, err := strconv.Atoi(os.Getenv("REDELIVER_KILLS")); err == nil {
		rounds = n
	}
	random := rand.New(rand.NewPCG(1, 2))
	var dir string
	lines := 0
	for round := range rounds {
		if round%k.RoundsOfOne == 0 {
			dir = t.TempDir()
			k.Forget()
		}
		lines += k.kill(t, dir, k.Lines+random.IntN(9*k.Lines))
		db, err := store.Open(dir, nil)
		if err != nil {
			t.Fatalf("open after the kill: %v", err)
		}
		k.Check(db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("%d rounds, %d lines acknowledged", rounds, lines)
}

// kill lets a process say n lines, kills it, and hears what it had still said.
func (k Kills) kill(t *testing.T, dir string, n int) (lines int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killDir+"="+dir, killWork+"="+k.Work)
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
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case words[0] == "error":
			t.Errorf("the process failed: %q", words)
		default:
			k.Hear(words)
		}
		if lines++; lines == n {
			if err := child.Process.Kill(); err != nil {
				t.Errorf("kill: %v", err)
			}
		}
	}
	_ = child.Wait() // it was killed
	return lines
}

package hosttest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
)

// mixed is an app with everything that could come in another order: several
// deliveries at once, sleeps, logs, panics, outputs and declared outcomes.
func mixed() *functions.App {
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		log := functions.Logger(ctx)
		n, _ := strconv.Atoi(m.Text())
		log.InfoContext(ctx, "working", "n", n)
		switch n % 5 {
		case 1:
			if err := functions.Sleep(ctx, time.Duration(n)*time.Second); err != nil {
				return err
			}
		case 2:
			return errors.New("fails always")
		case 3:
			panic("at the disco")
		case 4:
			if functions.Retry(ctx).RetryCount < 2 {
				return functions.RetryNow(errors.New("not yet"))
			}
		}
		return functions.SetOutput(ctx, "done", fmt.Sprintf("done %d", n))
	}, functions.QueueOutput("done", "done"), functions.ExponentialBackoff(3, time.Second, time.Minute))
	app.Queue("Done", "done", func(ctx context.Context, m functions.QueueMessage) error {
		functions.Logger(ctx).InfoContext(ctx, m.Text())
		return nil
	})
	app.Timer("Tick", "*/7 * * * * *", func(context.Context, functions.TimerInfo) error { return nil })
	return app
}

// ends is mixed with processes that end, one at a time: nobody decides when the host
// learns of that.
func ends() *functions.App {
	app := mixed()
	app.Queue("Ends", "done", func(ctx context.Context, m functions.QueueMessage) error {
		if functions.Retry(ctx).RetryCount == 0 {
			os.Exit(3)
		}
		return nil
	}, functions.FixedDelay(1, 7*time.Second))
	return app
}

// runMixed gives one host the input of the journal tests and returns what it
// wrote.
func runMixed(t *testing.T, opts hosttest.Options) []byte {
	t.Helper()
	h := hosttest.New(t, &opts)
	for n := range 12 {
		h.Send("orders", strconv.Itoa(n))
		if n == 6 {
			h.Advance(3 * time.Second)
		}
	}
	h.Advance(10 * time.Minute)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := h.Journal().WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// soak is how often the journal tests run: 1,000 times in `make soak`.
func soak(t *testing.T, short int) int {
	t.Helper()
	text := os.Getenv("REDELIVER_SOAK")
	if text == "" {
		return short
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("REDELIVER_SOAK: %v", err)
	}
	return n
}

// The same seed and input give the same journal, byte for byte, with several
// deliveries in flight, and with handlers in another process.
func TestSameJournal(t *testing.T) {
	t.Parallel()
	variants := map[string]hosttest.Options{
		"in process": {Handlers: mixed(), Seed: 7},
		"shuffled":   {Handlers: mixed(), Seed: 7, Shuffle: true},
		"process":    *process(t, "mixed", nil),
	}
	for _, program := range []string{"mixed", "ends"} {
		opts := *process(t, program, nil)
		opts.Seed, opts.Shuffle = 7, true
		variants["process, shuffled, "+program] = opts
	}
	for name, opts := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := runMixed(t, opts)
			if n := bytes.Count(want, []byte("\n")); n < 200 {
				t.Fatalf("the journal has %d lines only:\n%s", n, want)
			}
			for i := range soak(t, 20) {
				if got := runMixed(t, opts); !bytes.Equal(got, want) {
					t.Fatalf("run %d differs at %s", i+2, firstDifference(got, want))
				}
			}
		})
	}
}

// Another seed gives another journal: the comparison above can fail.
func TestSeedMatters(t *testing.T) {
	t.Parallel()
	one := runMixed(t, hosttest.Options{Handlers: mixed(), Seed: 1})
	two := runMixed(t, hosttest.Options{Handlers: mixed(), Seed: 2})
	if bytes.Equal(one, two) {
		t.Error("two seeds gave one journal")
	}
}

func firstDifference(a, b []byte) string {
	la, lb := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(la), len(lb)) {
		if !bytes.Equal(la[i], lb[i]) {
			return fmt.Sprintf("line %d:\n  %s\n  %s", i+1, la[i], lb[i])
		}
	}
	return fmt.Sprintf("the end: %d and %d lines", len(la), len(lb))
}

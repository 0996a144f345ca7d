//clock:outside handlers, which never see the clock

package invokertest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
)

// FloodLine is the size in bytes of a line that Flood logs.
const FloodLine = 1 << 10

// App returns the functions that the suite calls. A harness for handlers in
// another process serves it there.
func App() *functions.App {
	app := functions.New()
	ends(app)
	writes(app)
	floods(app)
	ownProcess(app)
	return app
}

// ends are the functions for the ways in which an attempt ends.
func ends(app *functions.App) {
	app.Handle("Nothing", func(context.Context, *functions.Trigger) error { return nil })
	app.Handle("Echo", echo, functions.FixedDelay(4, 5*time.Second),
		functions.Binding(`{"type":"manualTrigger","direction":"in","name":"item"}`),
		functions.QueueOutput("out", "echoes", functions.Connection("Echoes")))
	app.Handle("Seen", seen)
	app.Handle("Fail", func(_ context.Context, t *functions.Trigger) error {
		err := fmt.Errorf("outer: %w", errors.New(t.Text()))
		switch t.Metadata.Get("declare") {
		case "permanent":
			return functions.Permanent(err)
		case "now":
			return functions.RetryNow(err)
		case "after":
			return fmt.Errorf("wrapped: %w", functions.RetryAfter(err, 90*time.Second))
		case "poison":
			return functions.Poison(err)
		case "deadletter":
			return functions.DeadLetter("reason", "description", err)
		}
		return err
	}, functions.Disabled())
	app.Handle("Panic", func(ctx context.Context, t *functions.Trigger) error {
		_ = functions.SetOutput(ctx, "out", "lost")
		panic(t.Text())
	})
}

// writes are the functions that write lines, sleep, and write outputs that are none.
func writes(app *functions.App) {
	app.Handle("Log", func(ctx context.Context, t *functions.Trigger) error {
		n, err := strconv.Atoi(t.Text())
		for i := range n {
			switch log := functions.Logger(ctx); i % 3 {
			case 0:
				log.Info("line", "i", i)
			case 1:
				log.With("i", i).WithGroup("g").Warn("line", "x", time.Second)
			case 2:
				log.Error("line", "i", i, slog.Group("g", "bad", "\xff"))
			}
		}
		return err
	})
	app.Handle("Sleep", func(ctx context.Context, t *functions.Trigger) error {
		d, err := time.ParseDuration(t.Text())
		if err != nil {
			return err
		}
		functions.Logger(ctx).Info("before")
		if err := functions.Sleep(ctx, d); err != nil {
			return err
		}
		functions.Logger(ctx).Info("after")
		return nil
	})
	app.Handle("Odd", func(ctx context.Context, _ *functions.Trigger) error {
		return errors.Join(
			functions.SetOutput(ctx, "text", "a\xffb"),
			functions.SetOutput(ctx, "null", nil),
			functions.SetOutput(ctx, "json", bindings.Value{Kind: bindings.JSON, Text: "{oops"}),
			functions.SetOutput(ctx, "list", []string{"", "x"}),
			functions.SetOutput(ctx, "kind", bindings.Value{Kind: 99}))
	})
}

// floods are for handlers in a process of their own: more sleeps and lines than there is
// room for.
func floods(app *functions.App) {
	app.Handle("GiveUp", func(ctx context.Context, t *functions.Trigger) error {
		n, err := strconv.Atoi(t.Text())
		if err != nil {
			return err
		}
		// n sleeps of a minute, served one after the other, under one context that ends
		// long before.
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		ends := make(chan error, n)
		for range n {
			go func() { ends <- functions.Sleep(short, time.Minute) }()
		}
		for range n {
			if err := <-ends; !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("a sleep ended with %v", err)
			}
		}
		return functions.Sleep(ctx, time.Millisecond) // the call goes on as before
	})
	var flooded atomic.Int64 // lines that Flood got rid of
	app.Handle("Flood", func(ctx context.Context, t *functions.Trigger) error {
		n, err := strconv.Atoi(t.Text())
		for i := range n {
			line := strings.Repeat("x", FloodLine)
			if i == n/2 {
				line = strings.Repeat("x", 200<<10)
			}
			functions.Logger(ctx).Info(line, "i", i)
			flooded.Store(int64(i + 1))
		}
		return err
	})
	app.Handle("Flooded", func(ctx context.Context, _ *functions.Trigger) error {
		return functions.SetOutput(ctx, "out", strconv.FormatInt(flooded.Load(), 10))
	})
	app.Handle("Noise", func(_ context.Context, t *functions.Trigger) error {
		n, err := strconv.Atoi(t.Text())
		for range n {
			_, _ = os.Stdout.Write([]byte{0, 255, '{', '\n'})
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 20))
		}
		fmt.Println(strings.Repeat("x", 200<<10))
		return err
	})
}

// ownProcess are for handlers in a process of their own: its end, and what it sees.
func ownProcess(app *functions.App) {
	app.Handle("Exit", func(_ context.Context, t *functions.Trigger) error {
		code, _ := strconv.Atoi(t.Text())
		os.Exit(code)
		return nil
	})
	app.Handle("Fatal", func(context.Context, *functions.Trigger) error {
		go panic("from a goroutine")
		select {}
	})
	app.Handle("Wait", func(ctx context.Context, _ *functions.Trigger) error {
		functions.Logger(ctx).Info("waiting")
		<-ctx.Done()
		return ctx.Err()
	})
	app.Handle("Hang", func(ctx context.Context, _ *functions.Trigger) error {
		functions.Logger(ctx).Info("hanging")
		select {}
	})
	app.Handle("Goexit", func(context.Context, *functions.Trigger) error {
		runtime.Goexit()
		return nil
	})
	app.Handle("Print", func(ctx context.Context, t *functions.Trigger) error {
		n, err := strconv.Atoi(t.Metadata.Get("times"))
		for range max(n, 1) {
			fmt.Println(t.Text())
		}
		fmt.Fprintln(os.Stderr, "error: "+t.Text())
		slog.InfoContext(ctx, "default logger")
		if n == 0 {
			err = nil
		}
		return err
	})
	app.Handle("Env", func(ctx context.Context, t *functions.Trigger) error {
		return functions.SetOutput(ctx, "out", strings.Join(os.Environ(), "\n"))
	})
}

// echo gives back all that it was given.
func echo(ctx context.Context, t *functions.Trigger) error {
	inv := functions.FromContext(ctx)
	seen := fmt.Sprintf("%s %s %d %s %s", inv.ID, inv.Function, inv.DeliveryCount, inv.TraceParent, inv.TraceState)
	if r := functions.Retry(ctx); r != nil {
		seen += fmt.Sprintf(" retry %d/%d", r.RetryCount, r.MaxRetryCount)
		if r.Exception != nil {
			seen += " after " + r.Exception.Message
		}
	}
	if !inv.Deadline.IsZero() {
		seen += " in " + inv.Deadline.Sub(inv.Now).String()
	}
	return errors.Join(
		functions.SetOutput(ctx, "out", t.Value),
		functions.SetOutput(ctx, "seen", seen+" "+inv.Metadata.Get("key")),
		functions.SetReturn(ctx, []string{"a", "b"}))
}

// seen tells what a function of any language knows of its call.
func seen(ctx context.Context, _ *functions.Trigger) error {
	inv := functions.FromContext(ctx)
	text := fmt.Sprintf("%s %s %s %s", inv.ID, inv.Function, inv.Metadata.Get("Id"), inv.TraceParent)
	if r := functions.Retry(ctx); r != nil {
		text += fmt.Sprintf(" retry %d/%d", r.RetryCount, r.MaxRetryCount)
		if r.Exception != nil {
			text += " after " + r.Exception.Message
		}
	}
	return functions.SetOutput(ctx, "out", text)
}

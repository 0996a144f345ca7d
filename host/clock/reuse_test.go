package clock_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// goroutine names the calling goroutine: "goroutine 7".
func goroutine() string {
	buf := make([]byte, 64)
	name, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), " [")
	return name
}

// Tasks that come one after the other share goroutines.
func TestGoroutinesAreReused(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	seen := map[string]bool{}
	v.Do("test", func() {
		g := clock.NewGroup(v, 0)
		g.Go("stays", func() { _ = v.Sleep(background(), time.Hour) })
		for i := range 100 {
			v.AfterFunc(time.Duration(i)*time.Second, "timer", func() {
				g.Go("task", func() { seen[goroutine()] = true })
			})
		}
	})
	v.Run(2 * time.Hour)
	if len(seen) > 3 {
		t.Errorf("100 tasks ran in %d goroutines, want 3 at most", len(seen))
	}
}

// One that a task has left by Goexit is not used again, and nobody waits for it.
func TestExitedGoroutineIsGone(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order []string
	v.Do("test", func() {
		g := clock.NewGroup(v, 0)
		ctx, cancel := v.WithTimeout(context.Background(), time.Hour)
		for i := range 6 {
			g.Go("task", func() {
				_ = v.Sleep(ctx, time.Duration(i)*time.Second)
				order = append(order, string(rune('a'+i)))
				if i%2 == 0 {
					runtime.Goexit()
				}
			})
		}
		g.Go("end", func() {
			g2 := clock.NewGroup(v, 0)
			_ = v.Sleep(ctx, time.Minute)
			g2.Go("later", func() { order = append(order, "z") })
			g2.Wait()
			cancel()
		})
	})
	v.Run(2 * time.Hour)
	if got := strings.Join(order, ""); got != "abcdefz" {
		t.Errorf("tasks ran as %q, want abcdefz", got)
	}
}

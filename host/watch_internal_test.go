package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
)

// A watch looks at a host while its start fails: what both use is under a mutex, and the
// watch copies none of the rest. Only the race detector sees it otherwise.
func TestLookAtStartThatFails(t *testing.T) {
	t.Parallel()
	for range 20 {
		clk := clock.NewVirtual(realNow(), nil)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := New(dir, &Options{Clock: clk, Env: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		done, looked := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(looked)
			for {
				h.starter.giveWay(t.Context())
				select {
				case <-done:
					return
				default:
				}
			}
		}()
		err = h.Start(t.Context())
		close(done)
		<-looked
		if err == nil {
			t.Fatal("an app without a sound host.json started")
		}
		_ = h.Close()
		clk.Close()
	}
}

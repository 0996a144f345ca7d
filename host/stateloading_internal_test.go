package host

import (
	"bytes"
	"context"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/services"
)

// The state is not replaced while an app is loaded, which makes queues and hubs in it and
// is not the running one yet.
func TestStateIsReplacedBetweenLoads(t *testing.T) {
	t.Parallel()
	var saved bytes.Buffer
	var snap *services.Snapshot
	for name, replace := range map[string]func(h *Host) error{
		"load":     func(h *Host) error { _, err := h.LoadState(&saved); return err },
		"reset":    (*Host).ResetState,
		"restore":  func(h *Host) error { return h.Restore(snap) },
		"test kit": (*Host).Reset,
	} {
		t.Run(name, func(t *testing.T) {
			clk := clock.NewVirtual(realNow(), nil)
			t.Cleanup(clk.Close)
			h, err := New(t.TempDir(), &Options{Clock: clk, Env: []string{}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = h.Close() })
			saved.Reset()
			if err := h.SaveState(&saved); err != nil {
				t.Fatal(err)
			}
			made := h.Services().Storage().Queue("made")
			work := clock.NewGroup(clk, 0)
			var loaded func()
			replaced := false
			clk.Do("load", func() {
				if snap, err = h.Snapshot(); err != nil {
					t.Error(err)
				}
				loaded = h.lockLoading()
				if err := made.Create(context.Background()); err != nil {
					t.Error(err)
				}
				work.Go("replace", func() {
					if err := replace(h); err != nil {
						t.Error(err)
					}
					replaced = true
				})
			})
			exists := func() (is bool) {
				clk.Do("look", func() {
					if is, err = made.Exists(context.Background()); err != nil {
						t.Error(err)
					}
				})
				return is
			}
			if replaced || !exists() {
				t.Errorf("while an app is loaded: replaced %v", replaced)
			}
			clk.Do("loaded", loaded)
			if !replaced || exists() {
				t.Errorf("after that: replaced %v", replaced)
			}
		})
	}
}

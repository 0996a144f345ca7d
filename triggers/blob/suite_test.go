package blob_test

import (
	"context"
	"fmt"
	"testing"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers/blob"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

func TestListener(t *testing.T) {
	t.Parallel()
	triggertest.RunListener(t, func(t *testing.T, clk *clock.Virtual) *triggertest.Source {
		var lost error
		storage := emulator.New(clk, &emulator.Options{Fault: func(p emulator.FaultPoint) error {
			if p.Container == "inbox" && (p.Op == "Put" || p.Op == "Create") {
				return nil
			}
			return lost
		}})
		pattern, err := blobapi.ParsePattern("inbox/{name}")
		if err != nil {
			t.Fatal(err)
		}
		account := blob.Account{Name: "Storage", Blobs: storage, Queues: storage}
		shared := blob.NewShared(clk, account, hostID, &blob.Options{WakeUp: true})
		n := 0
		return &triggertest.Source{
			Listener: shared.Listener(&blob.Function{ID: "f", Pattern: pattern, Account: account}),
			Lose:     func(err error) { lost = err },
			Deliver: func(more int) {
				clk.Do("upload", func() {
					for range more {
						n++
						if err := put(context.Background(), storage, "inbox", fmt.Sprint(n), "x"); err != nil {
							t.Error(err)
						}
					}
				})
			},
		}
	})
}

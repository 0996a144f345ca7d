package redrive

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/journal"
)

// After any failure on the way a message is in one of the queues or in both,
// and never in none. White-box because no host lets its storage fail.
func TestMoverFails(t *testing.T) {
	t.Parallel()
	fault := errors.New("disk on fire")
	tests := []struct {
		name         string
		at           emulator.FaultPoint
		poison, kept int // messages of two in each queue afterwards
		visible      int // of the messages in the poison queue
	}{
		{"put", emulator.FaultPoint{Op: "Put", Queue: "orders"}, 2, 0, 2},
		{"answer to put lost", emulator.FaultPoint{Op: "Put", Queue: "orders", After: true}, 2, 1, 2},
		{"delete", emulator.FaultPoint{Op: "Delete", Queue: "orders-poison"}, 2, 1, 1},
		{"answer to delete lost", emulator.FaultPoint{Op: "Delete", Queue: "orders-poison", After: true}, 1, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			armed := false
			clk := clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil)
			defer clk.Close()
			storage := emulator.New(clk, &emulator.Options{Fault: func(p emulator.FaultPoint) error {
				if armed && p.Op == tt.at.Op && p.Queue == tt.at.Queue && p.After == tt.at.After {
					return fault
				}
				return nil
			}})
			clk.Do("test", func() {
				ctx := context.Background()
				m := &Mover{
					From: storage.Queue("orders-poison"), To: storage.Queue("orders"),
					Clock: clk, Journal: journal.New(clk.Now, nil), gone: func() error { return nil },
				}
				for _, q := range []queue.Queue{m.From, m.To} {
					if err := q.Create(ctx); err != nil {
						t.Fatal(err)
					}
				}
				for _, text := range []string{"1", "2"} {
					if _, err := m.From.Put(ctx, text, nil); err != nil {
						t.Fatal(err)
					}
				}
				armed = true
				if err := m.all(ctx, 2); !errors.Is(err, fault) || m.moved != 0 {
					t.Errorf("moved %d, error %v, want none and the fault", m.moved, err)
				}
				armed = false
				poison, _ := m.From.Count(ctx)
				kept, _ := m.To.Count(ctx)
				if n, err := storage.QueueCounts(ctx, "orders-poison"); err != nil || n.Visible != tt.visible {
					t.Errorf("%d messages of the poison queue are visible (%v), want %d", n.Visible, err, tt.visible)
				}
				if poison != tt.poison || kept != tt.kept {
					t.Errorf("%d messages in the poison queue and %d in the other, want %d and %d", poison, kept, tt.poison, tt.kept)
				}
			})
		})
	}
}

// Nothing more is moved for a caller that has gone.
func TestMoverStops(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	defer clk.Close()
	storage := emulator.New(clk, nil)
	clk.Do("test", func() {
		ctx, calls := context.Background(), 0
		m := &Mover{From: storage.Queue("aaa-poison"), To: storage.Queue("aaa"), Clock: clk, Journal: journal.New(clk.Now, nil)}
		m.gone = func() error {
			if calls++; calls > 2 {
				return context.Canceled
			}
			return nil
		}
		_ = m.To.Create(ctx)
		for range 5 {
			if _, err := queue.PutOrCreate(ctx, m.From, "x", nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.all(ctx, 5); err != nil || m.moved != 2 {
			t.Errorf("moved %d, %v, want 2", m.moved, err)
		}
	})
}

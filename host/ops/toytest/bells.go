// Package toytest is a service as small as one can be, for tests of what a service gets from
// its package and its row in the table of services: bells, which keep the words with which they
// were rung.
package toytest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/services"
)

// Bells are the service. New makes one.
type Bells struct {
	mu    sync.Mutex
	rings map[string][]string // by the name of the bell
}

// New makes bells of these names.
func New(names ...string) *Bells {
	b := &Bells{rings: map[string][]string{}}
	for _, name := range names {
		b.rings[name] = nil
	}
	return b
}

// Row is the row of the service.
func (b *Bells) Row() ops.Row {
	return ops.Row{
		Service: &ops.Service{
			Name: "bells", Path: "bells", Noun: "bell", Scene: ops.Scene{Entity: "bell", Held: "bells"},
			Refuse: func(err error) *ops.Error { return ops.Refuse(http.StatusServiceUnavailable, err.Error(), "") },
			List:   func(context.Context, *ops.Env) (any, error) { return b.list(), nil },
			Listings: []ops.Listing{{
				Name: "bells", Columns: []string{"BELL", "RUNG"}, Numbers: 1, Quiet: true,
				Rows: ops.Rows(func(i *BellInfo) [][]string { return [][]string{{i.Name, strconv.Itoa(i.Count)}} }),
			}},
			Entities: func(context.Context, *ops.Env) ([]string, error) {
				b.mu.Lock()
				defer b.mu.Unlock()
				return slices.Sorted(maps.Keys(b.rings)), nil
			},
			Each: func(_ context.Context, _ *ops.Env, bell string, visit func(*ops.ShownMessage, []byte) bool) error {
				return b.each(bell, visit)
			},
			Faults: faults.Service{Name: "bells", Writes: []string{"Ring", "Silence"}},
		},
		Operations: func() []ops.Deed {
			return []ops.Deed{ops.Of(b.Ring("", "")), ops.Of(b.Silence("")), ops.Of(b.Melt(""))}
		},
	}
}

// BellInfo is a bell.
type BellInfo struct {
	Name  string `json:"name"`
	Count int    `json:"count"` // how often it was rung
}

func (b *Bells) list() []BellInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []BellInfo{}
	for _, name := range slices.Sorted(maps.Keys(b.rings)) {
		out = append(out, BellInfo{name, len(b.rings[name])})
	}
	return out
}

func (b *Bells) each(bell string, visit func(*ops.ShownMessage, []byte) bool) error {
	b.mu.Lock()
	rings, ok := b.rings[bell]
	b.mu.Unlock()
	if !ok {
		return noBell(bell)
	}
	for i, words := range rings {
		if !visit(&ops.ShownMessage{ID: strconv.Itoa(i + 1), State: "visible"}, []byte(words)) {
			break
		}
	}
	return nil
}

func noBell(name string) error {
	return ops.Refuse(http.StatusNotFound, fmt.Sprintf("there is no bell %q", name), "")
}

// RingBell rings a bell, which keeps the words.
type RingBell struct {
	ops.Op[BellInfo] `route:"POST /bells/{bell}/rings" verb:"send" short:"Ring a bell" status:"201" step:"ring"`

	Bell string `path:"bell" step:"bell,place"`
	Body []byte `body:"raw" step:"body"`

	bells *Bells
}

// Ring is RingBell for one of these bells.
func (b *Bells) Ring(bell, words string) RingBell {
	return RingBell{Bell: bell, Body: []byte(words), bells: b}
}

// Do rings the bell.
func (in RingBell) Do(_ context.Context, e *ops.Env) (out BellInfo, err error) {
	err = in.bells.change(e, "Ring", in.Bell, func(rings []string) []string {
		rings = append(rings, string(in.Body))
		out = BellInfo{in.Bell, len(rings)}
		return rings
	})
	return out, err
}

// SilenceBell forgets the words of a bell.
type SilenceBell struct {
	ops.Op[ops.Purged] `route:"DELETE /bells/{bell}/rings" verb:"purge" short:"Forget the words of a bell" step:"purge"`

	Bell string `path:"bell" step:"bell,place"`

	bells *Bells
}

// Silence is SilenceBell for one of these bells.
func (b *Bells) Silence(bell string) SilenceBell { return SilenceBell{Bell: bell, bells: b} }

// Do silences the bell.
func (in SilenceBell) Do(_ context.Context, e *ops.Env) (out ops.Purged, err error) {
	err = in.bells.change(e, "Silence", in.Bell, func(rings []string) []string {
		out = ops.Purged{Path: in.Bell, Removed: len(rings)}
		return nil
	})
	return out, err
}

// MeltBell removes a bell. Its answer is a status alone.
type MeltBell struct {
	ops.Op[ops.None] `route:"DELETE /bells/{bell}" verb:"delete" short:"Melt a bell" status:"204"`

	Bell string `path:"bell"`

	bells *Bells
}

// Melt is MeltBell for one of these bells.
func (b *Bells) Melt(bell string) MeltBell { return MeltBell{Bell: bell, bells: b} }

// Do melts the bell.
func (in MeltBell) Do(context.Context, *ops.Env) (ops.None, error) {
	in.bells.mu.Lock()
	defer in.bells.mu.Unlock()
	if _, ok := in.bells.rings[in.Bell]; !ok {
		return ops.None{}, noBell(in.Bell)
	}
	delete(in.bells.rings, in.Bell)
	return ops.None{}, nil
}

// change changes what a bell keeps, unless a fault forbids it.
func (b *Bells) change(e *ops.Env, operation, bell string, to func(rings []string) []string) error {
	if e.Faults != nil {
		if err := e.Faults.Ask(e.Host.Clock(), services.FaultPoint{Service: "bells", Op: operation, Entity: bell}); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	rings, ok := b.rings[bell]
	if !ok {
		return noBell(bell)
	}
	b.rings[bell] = to(rings)
	return nil
}

// Package ids makes the names of deliveries and invocations, and the GUIDs of binding
// expressions. They come from counters and the seed, never from a shared source of chance,
// so that two runs with the same input name everything alike.
package ids

import (
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// Sequence hands out identifiers, none of them twice. The apps of a run share one. Its
// methods may be called concurrently.
type Sequence struct {
	seed uint64

	mu          sync.Mutex // guards:
	deliveries  uint64
	invocations uint64
	guids       uint64
}

// New returns a sequence that begins.
func New(seed uint64) *Sequence { return &Sequence{seed: seed} }

// Delivery returns the number and the name of the next delivery.
func (s *Sequence) Delivery() (uint64, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliveries++
	return s.deliveries, "d" + strconv.FormatUint(s.deliveries, 10)
}

// Invocation returns the next invocation ID.
func (s *Sequence) Invocation() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.invocations++
	return GUID(s.seed, s.invocations)
}

// GUID returns a further GUID, for binding expressions.
func (s *Sequence) GUID() string { return GUID(s.seed^0x9e3779b97f4a7c15, s.guid(1)+1) }

// GUIDs hands out n identifiers; see kinds.Env.
func (s *Sequence) GUIDs(n uint64) (first uint64, of func(seed, n uint64) string) {
	return s.guid(n), GUID
}

// guid passes n identifiers over, and returns how many there were before.
func (s *Sequence) guid(n uint64) (before uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.guids
	s.guids += n
	return before
}

// Reset begins again.
func (s *Sequence) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliveries, s.invocations, s.guids = 0, 0, 0
}

// GUID is the n-th identifier of a seed in the form of a random UUID (version
// 4, RFC 9562).
func GUID(seed, n uint64) string {
	var raw [16]byte
	pcg := rand.NewPCG(seed, n)
	for i := 0; i < 16; i += 8 {
		u := pcg.Uint64()
		for k := range 8 {
			raw[i+k] = byte(u >> (8 * k))
		}
	}
	return seeded.UUID(raw).String()
}

// Jitter returns the source of chance of one delivery: uniform in [0, 1).
// Most deliveries never ask, so the generator is made on first use.
func Jitter(seed, delivery uint64) func() float64 {
	var rng *rand.Rand
	return func() float64 {
		if rng == nil {
			rng = rand.New(rand.NewPCG(seed, delivery))
		}
		return rng.Float64()
	}
}

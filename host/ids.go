package host

import (
	"math/rand/v2"
	"strconv"

	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// identities hands out delivery and invocation IDs. They come from counters and
// the seed, never from a shared source of chance, so that two runs with the
// same input name everything alike. It is used with the clock's baton, or, on
// clock.System, under the host's mutex.
type identities struct {
	seed        uint64
	deliveries  uint64
	invocations uint64
	guids       uint64
}

// delivery returns the number and the name of the next delivery.
func (s *identities) delivery() (uint64, string) {
	s.deliveries++
	return s.deliveries, "d" + strconv.FormatUint(s.deliveries, 10)
}

// invocation returns the next invocation ID.
func (s *identities) invocation() string {
	s.invocations++
	return guid(s.seed, s.invocations)
}

// guid returns a further GUID, for binding expressions.
func (s *identities) guid() string {
	s.guids++
	return guid(s.seed^0x9e3779b97f4a7c15, s.guids)
}

// guids hands out n identifiers of the host; see kinds.Env.
func (h *Host) guids(n uint64) (first uint64, of func(seed, n uint64) string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first = h.ids.guids
	h.ids.guids += n
	return first, guid
}

// guid is the n-th identifier of a seed in the form of a random UUID (version
// 4, RFC 9562).
func guid(seed, n uint64) string {
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

// jitterOf returns the source of chance of one delivery: uniform in [0, 1).
// Most deliveries never ask, so the generator is made on first use.
func jitterOf(seed, delivery uint64) func() float64 {
	var rng *rand.Rand
	return func() float64 {
		if rng == nil {
			rng = rand.New(rand.NewPCG(seed, delivery))
		}
		return rng.Float64()
	}
}

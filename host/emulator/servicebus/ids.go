package servicebus

import (
	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// ids makes identifiers out of a seed and a counter. The zero value counts from
// 1 with seed 0. It is guarded by its owner's mutex.
type ids struct {
	seed uint64
	n    uint64
}

// guid returns a version 4 GUID that looks random and never repeats for a seed.
func (s *ids) guid() bindings.GUID {
	s.n++
	return seeded.GUID(s.seed, s.n)
}

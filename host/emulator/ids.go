package emulator

import (
	"encoding/base64"

	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// ids makes identifiers out of a seed and a counter. The zero value counts from
// 1 with seed 0. It is guarded by its owner's mutex.
type ids struct {
	seed uint64
	n    uint64
}

// guid returns an identifier in the form of a version 4 GUID.
func (s *ids) guid() string {
	s.n++
	return seeded.GUID(s.seed, s.n).String()
}

// receipt returns a pop receipt: opaque text with characters that a URL must
// escape, as the service's have.
func (s *ids) receipt() string {
	s.n++
	b := seeded.ID(s.seed, s.n)
	return base64.StdEncoding.EncodeToString(b[:])
}

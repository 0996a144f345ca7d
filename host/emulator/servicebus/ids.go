package servicebus

import (
	"encoding/binary"

	"github.com/redeliver/redeliver/bindings"
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
	var b bindings.GUID
	binary.BigEndian.PutUint64(b[:8], mix(s.seed^mix(s.n)))
	binary.BigEndian.PutUint64(b[8:], mix(s.seed+0x9e3779b97f4a7c15*s.n))
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return b
}

// mix is a bijection on 64 bits that spreads every input bit over all output
// bits (the finaliser of the splitmix64 generator).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

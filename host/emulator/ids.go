package emulator

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// ids makes identifiers out of a seed and a counter. The zero value counts from
// 1 with seed 0. It is guarded by its owner's mutex.
type ids struct {
	seed uint64
	n    uint64
}

// next returns 16 bytes that look random and never repeat for a seed.
func (s *ids) next() [16]byte {
	s.n++
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], mix(s.seed^mix(s.n)))
	binary.BigEndian.PutUint64(b[8:], mix(s.seed+0x9e3779b97f4a7c15*s.n))
	return b
}

// guid returns an identifier in the form of a version 4 GUID.
func (s *ids) guid() string {
	b := s.next()
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// receipt returns a pop receipt: opaque text with characters that a URL must
// escape, as the service's have.
func (s *ids) receipt() string {
	b := s.next()
	return base64.StdEncoding.EncodeToString(b[:])
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

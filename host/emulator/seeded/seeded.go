// Package seeded makes what looks random out of a seed and a number that is counted:
// the same calls in the same order get the same identifiers, in every run.
//
// The service keeps the count.
package seeded

import (
	"encoding/binary"

	"github.com/redeliver/redeliver/bindings"
)

// ID is the n-th identifier of a seed: 16 bytes, which never repeat for a seed.
func ID(seed, n uint64) [16]byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], Mix(seed^Mix(n)))
	binary.BigEndian.PutUint64(b[8:], Mix(seed+0x9e3779b97f4a7c15*n))
	return b
}

// Epoch is the seed of the states that come after so many others
// (store.View.Epoch): their identifiers differ from all identifiers before,
// at any count. The first state has the seed itself.
func Epoch(seed, epoch uint64) uint64 {
	if epoch == 0 {
		return seed
	}
	return Mix(seed ^ Mix(epoch))
}

// GUID is ID in the form of a random UUID.
func GUID(seed, n uint64) bindings.GUID { return UUID(ID(seed, n)) }

// A Series makes identifiers out of a seed and a counter: N have been given. The zero
// value counts from 1 with seed 0. It is guarded by its owner's mutex.
type Series struct {
	Seed, N uint64

	// Restored counts how often N has gone back to an earlier value: see Token.
	Restored uint64
}

// Next returns the next identifier.
func (s *Series) Next() [16]byte {
	s.N++
	return ID(s.Seed, s.N)
}

// Token is Next for what gives a right, such as a lock token: it is never an identifier
// that the series gave before N went back.
func (s *Series) Token() [16]byte {
	s.N++
	if s.Restored == 0 {
		return ID(s.Seed, s.N)
	}
	return ID(Epoch(^s.Seed, s.Restored), s.N)
}

// GUID is Next in the form of a random UUID.
func (s *Series) GUID() bindings.GUID { return UUID(s.Next()) }

// UUID gives 16 bytes the form of a random UUID (version 4, RFC 9562), which takes six
// of their bits.
func UUID(b [16]byte) bindings.GUID {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return b
}

// Mix is a bijection on 64 bits that spreads every input bit over all output bits
// (the finaliser of the splitmix64 generator).
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

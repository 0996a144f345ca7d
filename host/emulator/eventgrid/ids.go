package eventgrid

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// ids makes identifiers out of a seed and a counter. The zero value counts from
// 1 with seed 0. It is guarded by its owner's mutex.
type ids struct {
	seed uint64
	n    uint64
}

func (s *ids) next() [16]byte {
	s.n++
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], mix(s.seed^mix(s.n)))
	binary.BigEndian.PutUint64(b[8:], mix(s.seed+0x9e3779b97f4a7c15*s.n))
	return b
}

// guid returns a version 4 GUID that looks random and never repeats for a seed.
func (s *ids) guid() string {
	b := s.next()
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// key returns an access key: 32 bytes in base64, as the platform's.
func (s *ids) key() string {
	a, b := s.next(), s.next()
	return base64.StdEncoding.EncodeToString(append(a[:], b[:]...))
}

// chance is a number from 0 to 1 for one attempt of one delivery.
func chance(seed, delivery uint64, attempt int) float64 {
	return float64(mix(mix(seed^mix(delivery))+uint64(attempt))>>11) / (1 << 53)
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

// marshal is json.Marshal for values that always have a JSON form.
func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

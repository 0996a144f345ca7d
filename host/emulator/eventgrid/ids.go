package eventgrid

import (
	"encoding/base64"
	"encoding/json"

	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// ids makes identifiers out of a seed and a counter. The zero value counts from
// 1 with seed 0. It is guarded by its owner's mutex.
type ids struct {
	seed uint64
	n    uint64
}

func (s *ids) next() uint64 {
	s.n++
	return s.n
}

// guid returns a version 4 GUID that looks random and never repeats for a seed.
func (s *ids) guid() string { return seeded.GUID(s.seed, s.next()).String() }

// key returns an access key: 32 bytes in base64, as the platform's.
func (s *ids) key() string {
	a, b := seeded.ID(s.seed, s.next()), seeded.ID(s.seed, s.next())
	return base64.StdEncoding.EncodeToString(append(a[:], b[:]...))
}

// chance is a number from 0 to 1 for one attempt of one delivery.
func chance(seed, delivery uint64, attempt int) float64 {
	return float64(seeded.Mix(seeded.Mix(seed^seeded.Mix(delivery))+uint64(attempt))>>11) / (1 << 53)
}

// marshal is json.Marshal for values that always have a JSON form.
func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

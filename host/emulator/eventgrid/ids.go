package eventgrid

import (
	"encoding/base64"
	"encoding/json"

	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// accessKey returns an access key: 32 bytes in base64, as the platform's.
func accessKey(from *seeded.Series) string {
	a, b := from.Next(), from.Next()
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

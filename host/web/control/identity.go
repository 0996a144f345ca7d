package control

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/redeliver/redeliver/host/web/api"
)

// Identify proves which host it is, to a client that knows its secret; it needs no key.
type Identify struct {
	api.Op[Identity] `route:"GET /identity"`

	Challenge string `query:"challenge,required"`
}

// Identity is a host's answer to a challenge.
type Identity struct {
	Proof string `json:"proof"`
}

// Answer is the answer of a host with that secret. A client that has the secret too,
// from the host's run file, knows by it that it talks to that host and not to what has
// taken its port.
func (in Identify) Answer(secret string) Identity {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("redeliver host\n" + in.Challenge))
	return Identity{hex.EncodeToString(mac.Sum(nil))}
}

// Proves reports whether an answer is the one of the host with that secret.
func (i Identity) Proves(secret string, in Identify) bool {
	return hmac.Equal([]byte(i.Proof), []byte(in.Answer(secret).Proof))
}

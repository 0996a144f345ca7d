package control

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Identify proves which host it is, to a client that knows its secret; it needs no key.
type Identify struct {
	Op[Identity] `route:"GET /identity"`

	Challenge string `query:"challenge,required"`
}

// Identity is a host's answer to a challenge.
type Identity struct {
	Proof string `json:"proof"`
}

// Prove is the proof of knowing a secret, for one challenge. A client that has
// the secret too, from the host's run file, knows by it that it talks to that host
// and not to what has taken its port.
func Prove(secret, challenge string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("redeliver host\n" + challenge))
	return hex.EncodeToString(mac.Sum(nil))
}

// Proves reports whether an answer is the proof for a challenge.
func (i Identity) Proves(secret, challenge string) bool {
	return hmac.Equal([]byte(i.Proof), []byte(Prove(secret, challenge)))
}

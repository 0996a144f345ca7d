package web_test

import (
	"encoding/json"
	"testing"

	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/web"
)

// A host proves its identity to a caller that knows its secret, without a key. The
// proof is of one challenge and of one secret.
func TestIdentity(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, &web.Options{Secret: "of this host", EnableAuth: true})
	a := d.want(200, "GET", prefix+"/identity?challenge=7f", "")
	var got run.Identity
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		secret, challenge string
		want              bool
	}{{"of this host", "7f", true}, {"of this host", "80", false}, {"of another", "7f", false}, {"", "7f", false}} {
		if proves := got.Proves(test.secret, run.Identify{Challenge: test.challenge}); proves != test.want {
			t.Errorf("proof %q: Proves(%q, %q) = %v", got.Proof, test.secret, test.challenge, proves)
		}
	}
	d.want(400, "GET", prefix+"/identity", "")
	d.want(401, "GET", prefix+"/status", "")
	without := open(t, app(plainHostJSON), nil, nil)
	without.want(404, "GET", prefix+"/identity?challenge=7f", "")
}

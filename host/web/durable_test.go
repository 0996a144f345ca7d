package web_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/web"
)

// The web hook of Durable Functions wants its system key or the master key, and no page of
// another origin. An app without Durable Functions has none.
func TestDurableHook(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, &web.Options{EnableAuth: true})
	keys, err := web.OpenKeys(web.KeysFile(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys.All() {
		want := 401
		if k.Kind == "master" || k.Name == "durabletask_extension" {
			want = 404
		}
		d.want(want, "GET", "/runtime/webhooks/DurableTask/instances?code="+k.Value, "")
		d.want(want, "GET", "/runtime/webhooks/durabletask/instances", "", withHeader("x-functions-key", k.Value))
	}
	d.want(401, "GET", "/runtime/webhooks/durabletask/instances", "")
	d.want(403, "POST", "/runtime/webhooks/durabletask/orchestrators/X?code="+keys.All()[0].Value, "{}", withHeader("Origin", "http://evil.example"))
}

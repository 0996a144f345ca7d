package bus

import (
	"context"
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	emulated "github.com/redeliver/redeliver/host/emulator/servicebus"
)

// FuzzClaim: each put-token has one of the answers of the service, with a text of limited
// length that says why, and a claim is kept when it was accepted and at no other time.
func FuzzClaim(f *testing.F) {
	value := func(v any) []byte { return wire.AppendValue(nil, v) }
	const rule = "SharedAccessSignature sr=amqp%3A%2F%2Fhost%2Fq&sig=x%3D&se=1767225600&skn=senders"
	f.Add("put-token", "amqp://host/q", "servicebus.windows.net:sastoken", value(rule), false)
	f.Add("put-token", "sb://host/t/Subscriptions/s/$DeadLetterQueue", "jwt", value("token"), false)
	f.Add("put-token", "sb://host", "jwt", value(""), true)
	f.Add("put-token", "", "amqp:jwt", value(int32(1)), false)
	f.Add("put-token", "amqp://host/missing/$management", "", value(nil), true)
	f.Add("take-token", "://///", "\xff", []byte{0xff}, false)
	f.Fuzz(func(t *testing.T, operation, name, kind string, body []byte, refused bool) {
		clk := clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil)
		ns := emulated.New(clk, nil)
		clk.Do("create", func() {
			if _, err := ns.CreateQueue(context.Background(), servicebus.Queue{Name: "q", AuthorizationRules: []servicebus.AuthorizationRule{{KeyName: "senders", PrimaryKey: "one", Rights: []servicebus.Right{servicebus.Send}}}}); err != nil {
				t.Error(err)
			}
			if _, err := ns.CreateTopic(context.Background(), servicebus.Topic{Name: "t"}); err != nil {
				t.Error(err)
			}
		})
		b := New(clk, ns, &Options{CheckToken: func(_, _, _ string) error {
			if refused {
				return errors.New("refused")
			}
			return nil
		}})
		q := &wire.Message{Body: body, ApplicationProperties: wire.Map{{Key: "operation", Value: operation}, {Key: "name", Value: name}, {Key: "type", Value: kind}}}
		code, text := (&cbs{b: b, connection: "c"}).claim(q)
		switch {
		case code != 202 && code != 400 && code != 401 && code != 404:
			t.Errorf("answer %d %s", code, text)
		case text == "" || len(text) > 5*len(name)+900:
			t.Errorf("%d with a text of %d bytes: %.100q", code, len(text), text)
		case code == 202 && (refused || operation != "put-token" || name == ""):
			t.Errorf("%q for %q is accepted", operation, name)
		case utf8.ValidString(name+operation) && !utf8.ValidString(text):
			t.Errorf("%q is no text", text)
		}
		if kept := len(b.claims.by["c"]); kept > 0 != (code == 202) {
			t.Errorf("answer %d, and %d claims are kept", code, kept)
		}
		if _, ok := b.claims.get("c", trimAddress(name)); ok != (code == 202) {
			t.Errorf("answer %d, and the claim for %q: %v", code, name, ok)
		}
		if b.claims.forget("c"); len(b.claims.by) > 0 {
			t.Error("claims outlive their connection")
		}
	})
}

package bus_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestRightsOfAuthorizationRules: a client that names a rule of the entity must have signed
// with one of its keys, and can do what the rule allows. Other names are believed.
func TestRightsOfAuthorizationRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q", AuthorizationRules: []servicebus.AuthorizationRule{
		{KeyName: "senders", PrimaryKey: "one", SecondaryKey: "two", Rights: []servicebus.Right{servicebus.Send}},
		{KeyName: "listeners", PrimaryKey: "three", SecondaryKey: "four", Rights: []servicebus.Right{servicebus.Listen}},
	}})
	for _, c := range []struct {
		rule, key      string
		sends, listens bool
	}{
		{"RootManageSharedAccessKey", "SAS_KEY_VALUE", true, true},
		{"senders", "one", true, false},
		{"senders", "two", true, false},
		{"Listeners", "three", false, true},
		{"senders", "three", false, false},
	} {
		t.Run(c.rule+" "+c.key, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			s := fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=%s;SharedAccessKey=%s;UseDevelopmentEmulator=true;", w.address, c.rule, c.key)
			client, err := azservicebus.NewClientFromConnectionString(s, &azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close(ctx)
			allowed := func(what string, err error, want bool) {
				t.Helper()
				if sdk, _ := errors.AsType[*azservicebus.Error](err); want && err != nil || !want && (sdk == nil || sdk.Code != azservicebus.CodeUnauthorizedAccess) {
					t.Errorf("%s: %v, want allowed: %v", what, err, want)
				}
			}
			sender, err := client.NewSender("q", nil)
			if err != nil {
				t.Fatal(err)
			}
			allowed("send", sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("x")}, nil), c.sends)
			_, err = sender.ScheduleMessages(ctx, []*azservicebus.Message{{Body: []byte("x")}}, w.clk.Now().Add(time.Hour), nil)
			allowed("schedule", err, c.sends)
			r := receiverOf(t, client, "q", nil)
			_, err = r.PeekMessages(ctx, 1, nil)
			allowed("peek", err, c.listens)
			w.do(t, func(ctx context.Context) error { return w.ns.Send(ctx, "q", &servicebus.Message{}) })
			_, err = r.ReceiveMessages(ctx, 1, nil)
			allowed("receive", err, c.listens)
		})
	}
}

// A token of a rule is refused when its time is over by the clock and in real time: its
// maker uses the machine's clock, wherever the host's clock stands.
func TestExpiredTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q", AuthorizationRules: []servicebus.AuthorizationRule{
		{KeyName: "senders", PrimaryKey: "one", SecondaryKey: "two", Rights: []servicebus.Right{servicebus.Send}},
	}})
	past, hour := w.clk.Now().Add(-time.Minute), time.Now().Add(time.Hour) //clock:outside tokens are made in real time
	for _, c := range []struct {
		name   string
		expiry time.Time
		ahead  time.Duration // of the clock
		want   bool
	}{
		{"over", past, 0, false},
		{"good", hour, 0, true},
		{"good in real time", hour, 100 * 365 * 24 * time.Hour, true},
	} {
		w.clk.Advance(c.ahead)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		uri := url.QueryEscape("amqp://" + w.address + "/q")
		se := fmt.Sprint(c.expiry.Unix())
		mac := hmac.New(sha256.New, []byte("one"))
		mac.Write([]byte(uri + "\n" + se))
		s := fmt.Sprintf("Endpoint=sb://%s;SharedAccessSignature=SharedAccessSignature sr=%s&sig=%s&se=%s&skn=senders;UseDevelopmentEmulator=true;",
			w.address, uri, url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil))), se)
		client, err := azservicebus.NewClientFromConnectionString(s, &azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(ctx)
		sender, err := client.NewSender("q", nil)
		if err != nil {
			t.Fatal(err)
		}
		err = sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("x")}, nil)
		if sdk, _ := errors.AsType[*azservicebus.Error](err); c.want && err != nil || !c.want && (sdk == nil || sdk.Code != azservicebus.CodeUnauthorizedAccess) {
			t.Errorf("%s: %v, want allowed: %v", c.name, err, c.want)
		}
	}
}

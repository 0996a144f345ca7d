package bus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings"
)

// TestRightsOfAuthorizationRules: a client that names a rule of the entity must have signed
// with one of its keys, and can do what the rule allows. Other names are believed.
func TestRightsOfAuthorizationRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q", AuthorizationRules: []bindings.ServiceBusAuthorizationRule{
		{KeyName: "senders", PrimaryKey: "one", SecondaryKey: "two", Rights: []bindings.ServiceBusRight{bindings.ServiceBusSend}},
		{KeyName: "listeners", PrimaryKey: "three", SecondaryKey: "four", Rights: []bindings.ServiceBusRight{bindings.ServiceBusListen}},
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
			w.do(t, func(ctx context.Context) error { return w.ns.Send(ctx, "q", &bindings.ServiceBusMessage{}) })
			_, err = r.ReceiveMessages(ctx, 1, nil)
			allowed("receive", err, c.listens)
		})
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// The same connection gives the same account, the first one that is used is told,
// and what is wrong is an error that shows no key (spec storage 13).
func TestCloud(t *testing.T) {
	t.Parallel()
	var told []string
	c := newCloud(func(setting string) { told = append(told, setting) })
	defer c.close()
	for _, wrong := range []app.Connection{
		{Setting: "Text", Value: "AccountName=acme;AccountKey=!secret!"},
		{Setting: "Section", Section: map[string]string{"credential": "managedidentity"}},
		{Setting: "Blobs", Value: "BlobEndpoint=https://acme.blob.core.windows.net;SharedAccessSignature=sig=secret"}, // and no queues
	} {
		if _, err := c.Queues(wrong); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Queues(%s) = %v, want an error without the key", wrong.Setting, err)
		}
	}
	if len(told) != 0 || c.used.Load() {
		t.Errorf("told of %q, want nothing used yet", told)
	}
	for _, conn := range []app.Connection{
		{Setting: "First", Value: "AccountName=acme;AccountKey=c2VjcmV0"},
		{Setting: "Second", Section: map[string]string{"accountName": "acme", "credential": "managedidentity"}},
	} {
		queues, err := c.Queues(conn)
		if err != nil {
			t.Fatal(err)
		}
		blobs, err := c.Blobs(conn)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := c.Queues(conn); again != queues {
			t.Errorf("%s: a second queue account for the same connection", conn.Setting)
		}
		if again, _ := c.Blobs(conn); again != blobs {
			t.Errorf("%s: a second blob account for the same connection", conn.Setting)
		}
	}
	for _, conn := range []app.Connection{
		{Setting: "Bus", Value: "Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=c2VjcmV0"},
		{Setting: "BusIdentity", Section: map[string]string{"fullyQualifiedNamespace": "acme.servicebus.windows.net", "credential": "managedidentity"}},
	} {
		bus, err := c.ServiceBus(conn)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := c.ServiceBus(conn); again != bus {
			t.Errorf("%s: a second namespace for the same connection", conn.Setting)
		}
		hubs, err := c.EventHubs(conn)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := c.EventHubs(conn); again != hubs {
			t.Errorf("%s: a second Event Hubs namespace for the same connection", conn.Setting)
		}
	}
	if got := strings.Join(told, " "); got != "First" {
		t.Errorf("told of %q, want the first connection only", got)
	}
}

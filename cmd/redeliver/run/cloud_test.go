package run

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/app/appsettings"
)

// The first connection that is used is told, and what is wrong is an error that shows no key (spec storage 13).
func TestCloud(t *testing.T) {
	t.Parallel()
	var told []string
	c := NewCloud(func(setting string) { told = append(told, setting) })
	defer c.Close()
	for _, wrong := range []appsettings.Connection{
		{Setting: "Text", Value: "AccountName=acme;AccountKey=!secret!"},
		{Setting: "Section", Section: map[string]string{"credential": "managedidentity"}},
		{Setting: "Blobs", Value: "BlobEndpoint=https://acme.blob.core.windows.net;SharedAccessSignature=sig=secret"}, // and no queues
	} {
		if _, err := c.Queues(wrong, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Queues(%s) = %v, want an error without the key", wrong.Setting, err)
		}
	}
	if len(told) != 0 || c.used.Load() {
		t.Errorf("told of %q, want nothing used yet", told)
	}
	for _, conn := range []appsettings.Connection{
		{Setting: "First", Value: "AccountName=acme;AccountKey=c2VjcmV0"},
		{Setting: "Second", Section: map[string]string{"accountName": "acme", "credential": "managedidentity"}},
	} {
		if _, err := c.Queues(conn, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Blobs(conn, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, conn := range []appsettings.Connection{
		{Setting: "Bus", Value: "Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=c2VjcmV0"},
		{Setting: "BusIdentity", Section: map[string]string{"fullyQualifiedNamespace": "acme.servicebus.windows.net", "credential": "managedidentity"}},
	} {
		if _, err := c.ServiceBus(conn, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.EventHubs(conn, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(told, " "); got != "First" {
		t.Errorf("told of %q, want the first connection only", got)
	}
}

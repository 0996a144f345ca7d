package azure_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/azure"
)

// Identity-based connections (spec storage 13): the addresses that they give, and
// the settings that are refused.
func TestParseIdentity(t *testing.T) {
	t.Parallel()
	type section = map[string]string
	const queues, blobs, tables = "https://acme.queue.core.windows.net", "https://acme.blob.core.windows.net", "https://acme.table.core.windows.net"
	for name, row := range map[string]struct {
		section section
		want    azure.Identity
		err     string
	}{
		"account":       {section: section{"accountName": "acme"}, want: azure.Identity{QueueEndpoint: queues, BlobEndpoint: blobs, TableEndpoint: tables}},
		"any case":      {section: section{"ACCOUNTNAME": "acme", "other": "x"}, want: azure.Identity{QueueEndpoint: queues, BlobEndpoint: blobs, TableEndpoint: tables}},
		"queues only":   {section: section{"queueServiceUri": queues + "/"}, want: azure.Identity{QueueEndpoint: queues}},
		"services":      {section: section{"queueServiceUri": queues, "blobServiceUri": "https://b.example/x/"}, want: azure.Identity{QueueEndpoint: queues, BlobEndpoint: "https://b.example/x"}},
		"uri wins":      {section: section{"accountName": "other", "blobServiceUri": blobs, "queueServiceUri": queues}, want: azure.Identity{QueueEndpoint: queues, BlobEndpoint: blobs, TableEndpoint: "https://other.table.core.windows.net"}},
		"serviceUri":    {section: section{"serviceUri": blobs}, want: azure.Identity{QueueEndpoint: blobs, BlobEndpoint: blobs, TableEndpoint: blobs}},
		"managed":       {section: section{"accountName": "acme", "credential": "managedIdentity", "clientId": "c"}, want: azure.Identity{QueueEndpoint: queues, BlobEndpoint: blobs, TableEndpoint: tables, Credential: "managedidentity", ClientID: "c"}},
		"resource":      {section: section{"accountName": "acme", "credential": "managedidentity", "managedIdentityResourceId": "/r"}, want: azure.Identity{QueueEndpoint: queues, BlobEndpoint: blobs, TableEndpoint: tables, Credential: "managedidentity", ResourceID: "/r"}},
		"application":   {section: section{"accountName": "acme", "tenantId": "t", "clientId": "c", "clientSecret": "s"}, want: azure.Identity{QueueEndpoint: queues, BlobEndpoint: blobs, TableEndpoint: tables, TenantID: "t", ClientID: "c", ClientSecret: "s"}},
		"nothing":       {section: section{"credential": "managedidentity"}, err: "identity-based connection: accountName, blobServiceUri, queueServiceUri, tableServiceUri or fullyQualifiedNamespace is missing"},
		"namespace":     {section: section{"FullyQualifiedNamespace": "acme.servicebus.windows.net"}, want: azure.Identity{Namespace: "acme.servicebus.windows.net"}},
		"namespace URL": {section: section{"fullyQualifiedNamespace": "sb://acme"}, err: `identity-based connection: fullyQualifiedNamespace "sb://acme": want a host name such as acme.servicebus.windows.net`},
		"no https":      {section: section{"blobServiceUri": "http://127.0.0.1:10000/a"}, err: `identity-based connection: blobServiceUri "http://127.0.0.1:10000/a": tokens are sent over https only`},
		"no address":    {section: section{"queueServiceUri": "acme"}, err: `identity-based connection: queueServiceUri "acme": want an address such as http://127.0.0.1:10001/account`},
		"credential":    {section: section{"accountName": "acme", "credential": "magic"}, err: `identity-based connection: credential "magic": want managedidentity, or none for the default credential`},
		"lonely secret": {section: section{"accountName": "acme", "clientSecret": "s"}, err: "identity-based connection: clientSecret needs tenantId and clientId"},
	} {
		got, err := azure.ParseIdentity(row.section)
		if err != nil || row.err != "" {
			if err == nil || err.Error() != row.err {
				t.Errorf("%s: ParseIdentity = %v, want %s", name, err, row.err)
			}
			continue
		}
		if diff := cmp.Diff(&row.want, got); diff != "" {
			t.Errorf("%s: ParseIdentity (-want +got):\n%s", name, diff)
		}
		if got.QueueEndpoint != "" {
			if _, err := azure.NewQueueAccountWithIdentity(got, nil); err != nil {
				t.Errorf("%s: NewQueueAccountWithIdentity: %v", name, err)
			}
		} else if _, err := azure.NewQueueAccountWithIdentity(got, nil); err == nil {
			t.Errorf("%s: an account without queues has queues", name)
		}
		if got.Namespace != "" {
			if _, err := azure.NewServiceBusWithIdentity(got, nil); err != nil {
				t.Errorf("%s: NewServiceBusWithIdentity: %v", name, err)
			}
		} else if _, err := azure.NewServiceBusWithIdentity(got, nil); err == nil {
			t.Errorf("%s: an account without a namespace has one", name)
		}
		if got.Namespace != "" {
			hubs, err := azure.NewEventHubsWithIdentity(got, nil)
			if err != nil || hubs.FullyQualifiedNamespace() != got.Namespace {
				t.Errorf("%s: NewEventHubsWithIdentity: %v", name, err)
			}
		} else if _, err := azure.NewEventHubsWithIdentity(got, nil); err == nil {
			t.Errorf("%s: an account without a namespace has hubs", name)
		}
		if got.BlobEndpoint != "" {
			if _, err := azure.NewBlobAccountWithIdentity(got, nil); err != nil {
				t.Errorf("%s: NewBlobAccountWithIdentity: %v", name, err)
			}
		} else if _, err := azure.NewBlobAccountWithIdentity(got, nil); err == nil {
			t.Errorf("%s: an account without blobs has blobs", name)
		}
	}
}

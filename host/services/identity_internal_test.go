package services

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app/appsettings"
)

// Handlers are given a connection string in the place of an identity where this host serves
// the account or the namespace, and nothing else changes (spec workers-dotnet-java 4.2).
func TestIdentityOfHandlers(t *testing.T) {
	t.Parallel()
	const bus = ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
	served := NewConnections(nil, embeddedFor(t, "one"), &ConnectionOptions{})
	served.StorageAt("http://127.0.0.1:40000", "http://127.0.0.1:40001")
	served.ServiceBusAt("sb://127.0.0.1:4000")
	served.AccountStrings(map[string]string{FirstAccount: "first;", "one": "one;"})
	silent := NewConnections(nil, embeddedFor(t, "one"), &ConnectionOptions{})
	silent.StorageAt("", "")
	silent.ServiceBusAt("")
	for _, tt := range []struct {
		name     string
		c        *Connections
		env      []string
		want     []string // nil: as it is
		adopted  []Adopted
		embedded string // service that a trigger finds embedded; empty: none
	}{
		{
			name: "all of an account", c: served,
			env:     []string{"A=1", "Orders__blobServiceUri=http://localhost:40000/one", "B=2", "Orders__QUEUESERVICEURI=http://127.0.0.1:40001/one/", "ORDERS__credential=managedidentity", "Orders__clientId=x", "Orders__other=y"},
			want:    []string{"A=1", "Orders=one;", "B=2", "Orders__other=y"},
			adopted: []Adopted{{"Orders", []string{"Orders__blobServiceUri", "Orders__QUEUESERVICEURI", "ORDERS__credential", "Orders__clientId"}}},
		},
		{
			name: "its tables, which are served elsewhere on this machine", c: served,
			env:     []string{"S__queueServiceUri=http://127.0.0.1:40001/devstoreaccount1", "S__tableServiceUri=http://127.0.0.1:10002/devstoreaccount1"},
			want:    []string{"S=first;TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"},
			adopted: []Adopted{{"S", []string{"S__queueServiceUri", "S__tableServiceUri"}}},
		},
		{name: "its tables in the cloud", c: served, env: []string{"S__queueServiceUri=http://127.0.0.1:40001/one", "S__tableServiceUri=https://one.table.core.windows.net"}},
		{name: "serviceUri of queues", c: served, env: []string{"S__serviceUri=http://127.0.0.1:40001/one"}, want: []string{"S=one;"}, adopted: []Adopted{{"S", []string{"S__serviceUri"}}}},
		{name: "serviceUri of blobs", c: served, env: []string{"S:serviceUri=http://127.0.0.1:40000/one"}, want: []string{"S=one;"}, adopted: []Adopted{{"S", []string{"S:serviceUri"}}}},
		{name: "by its name", c: served, env: []string{"S__accountName=One"}, want: []string{"S=one;"}, adopted: []Adopted{{"S", []string{"S__accountName"}}}, embedded: "storage"},
		{name: "by its name, and not served", c: silent, env: []string{"S__accountName=one"}, embedded: "storage"},
		{name: "another name", c: served, env: []string{"S__accountName=two", "S__clientId=x"}},
		{name: "another port", c: served, env: []string{"S__blobServiceUri=http://127.0.0.1:10000/one"}},
		{name: "half of it elsewhere", c: served, env: []string{"S__blobServiceUri=http://127.0.0.1:40000/one", "S__queueServiceUri=https://one.queue.core.windows.net"}},
		{name: "two accounts", c: served, env: []string{"S__blobServiceUri=http://127.0.0.1:40000/one", "S__queueServiceUri=http://127.0.0.1:40001/devstoreaccount1"}},
		{name: "a connection string goes first", c: served, env: []string{"S=UseDevelopmentStorage=true", "S__accountName=one"}},
		{name: "an empty one does not", c: served, env: []string{"S=", "S__accountName=one"}, want: []string{"S=", "S=one;"}, adopted: []Adopted{{"S", []string{"S__accountName"}}}},
		{name: "no connection", c: served, env: []string{"AZURE_CLIENT_ID=x", "App__clientId=x", "__accountName=one", "odd"}},
		{name: "namespace", c: served, env: []string{"Bus__fullyQualifiedNamespace=localhost"}, want: []string{"Bus=Endpoint=sb://127.0.0.1:4000" + bus}, adopted: []Adopted{{"Bus", []string{"Bus__fullyQualifiedNamespace"}}}, embedded: "bus"},
		{name: "namespace at its port", c: served, env: []string{"Bus__fullyQualifiedNamespace=localhost:4000"}, want: []string{"Bus=Endpoint=sb://127.0.0.1:4000" + bus}, adopted: []Adopted{{"Bus", []string{"Bus__fullyQualifiedNamespace"}}}, embedded: "bus"},
		{name: "namespace at another port", c: served, env: []string{"Bus__fullyQualifiedNamespace=localhost:5672"}},
		{name: "namespace, not served", c: silent, env: []string{"Bus__fullyQualifiedNamespace=localhost"}, embedded: "bus"},
		{name: "namespace of the cloud", c: served, env: []string{"Bus__fullyQualifiedNamespace=acme.servicebus.windows.net"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := tt.want
			if want == nil {
				want = tt.env
			}
			env, adopted := tt.c.Environment(tt.env)
			if diff := cmp.Diff(want, env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.adopted, adopted); diff != "" {
				t.Errorf("adopted (-want +got):\n%s", diff)
			}
			for _, g := range identityGroups(tt.env) {
				conn := appsettings.Connection{Section: g.section}
				_, storage := tt.c.storage(conn, queueService)
				if got := fmt.Sprint(storage, tt.c.IsEmbeddedNamespace(conn)); tt.embedded != "" && got != fmt.Sprint(tt.embedded == "storage", tt.embedded == "bus") {
					t.Errorf("for triggers embedded storage, namespace: %s, want %q", got, tt.embedded)
				}
			}
		})
	}
	if got := served.BlobEndpoint(appsettings.Connection{Section: map[string]string{"accountName": "one"}}); got != "http://127.0.0.1:40000/one" {
		t.Errorf("blobs of an account by its name are at %q", got)
	}
}

package services

import (
	"testing"

	"github.com/redeliver/redeliver/host/app/appsettings"
)

// The string of each embedded account means that account, at the host's own
// servers only.
func TestEmbeddedAccountByName(t *testing.T) {
	t.Parallel()
	e := embeddedFor(t, "one")
	c := NewConnections(nil, e, &ConnectionOptions{})
	c.StorageAt("https://127.0.0.1:40000", "https://127.0.0.1:40001")
	at := func(account, port string) string {
		return "DefaultEndpointsProtocol=https;AccountName=" + account + ";AccountKey=x;BlobEndpoint=https://127.0.0.1:" + port + "/" + account + ";"
	}
	for _, tt := range []struct{ value, want string }{
		{"UseDevelopmentStorage=true", FirstAccount},
		{at(FirstAccount, "40000"), FirstAccount},
		{at("one", "40000"), "one"},
		{at("one", "10000"), ""},
		{at("two", "40000"), ""},
		{"BlobEndpoint=https://127.0.0.1:40000/one;SharedAccessSignature=sv=1&sig=x", ""},
	} {
		got, ok := c.storage(appsettings.Connection{Value: tt.value}, blobService)
		if want := e.Account(tt.want); ok != (want != nil) || got != want {
			t.Errorf("%q means another account than %q", tt.value, tt.want)
		}
	}
}

// Handlers are given a string that leads to the servers in the place of the short
// form, and everything else as it is.
func TestDevelopmentStorageOfHandlers(t *testing.T) {
	t.Parallel()
	const long = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1"
	usual, moved := NewConnections(nil, nil, &ConnectionOptions{}), NewConnections(nil, nil, &ConnectionOptions{})
	moved.DevelopmentStorage(long)
	for value, want := range map[string]string{
		"UseDevelopmentStorage=true":                                           long,
		" usedevelopmentstorage=TRUE; ":                                        long,
		"UseDevelopmentStorage=false":                                          "UseDevelopmentStorage=false",
		"see UseDevelopmentStorage=true":                                       "see UseDevelopmentStorage=true",
		"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite": "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite",
		"": "",
	} {
		if got := moved.Setting(value); got != want {
			t.Errorf("%q becomes %q, want %q", value, got, want)
		}
		if got := usual.Setting(value); got != value {
			t.Errorf("%q becomes %q where the servers are the usual ones", value, got)
		}
	}
}

package host

import (
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// Addresses of accounts, and which of them are scanned as development storage
// (storage.md 9.1 and 13).
func TestBlobEndpoint(t *testing.T) {
	t.Parallel()
	value := func(s string) app.Connection { return app.Connection{Value: s} }
	section := func(name, v string) app.Connection { return app.Connection{Section: map[string]string{name: v}} }
	const emulated = "http://127.0.0.1:10000/devstoreaccount1"
	tests := []struct {
		conn        app.Connection
		want        string
		development bool
	}{
		{value("UseDevelopmentStorage=true"), emulated, true},
		{value("AccountName=devstoreaccount1;AccountKey=k=="), emulated, true},
		{value("AccountName=devstoreaccount1;BlobEndpoint=http://localhost:1234/devstoreaccount1/;"), "http://localhost:1234/devstoreaccount1", true},
		{value("DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=k==;EndpointSuffix=core.chinacloudapi.cn"), "https://acct.blob.core.chinacloudapi.cn", false},
		{value("AccountName=acct"), "https://acct.blob.core.windows.net", false},
		{section("blobServiceUri", "https://acct.blob.core.windows.net/"), "https://acct.blob.core.windows.net", false},
		{section("accountName", "acct"), "https://acct.blob.core.windows.net", false},
	}
	for _, tt := range tests {
		got := blobEndpoint(tt.conn)
		if got != tt.want || isDevelopment(got) != tt.development {
			t.Errorf("blobEndpoint(%+v) = %q, development %v, want %q, %v", tt.conn, got, isDevelopment(got), tt.want, tt.development)
		}
	}
}

package services

import (
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/journal"
)

// Addresses of accounts, and which of them are scanned as development storage
// (spec storage 9.1 and 13).
func TestBlobEndpoint(t *testing.T) {
	t.Parallel()
	value := func(s string) appsettings.Connection { return appsettings.Connection{Value: s} }
	section := func(name, v string) appsettings.Connection {
		return appsettings.Connection{Section: map[string]string{name: v}}
	}
	const emulated = "http://127.0.0.1:10000/devstoreaccount1"
	tests := []struct {
		conn        appsettings.Connection
		want        string
		development bool
	}{
		{value("UseDevelopmentStorage=true"), emulated, true},
		{value("UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://127.0.0.1"), emulated, true},
		{value("UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://10.0.0.7:8888"), "http://10.0.0.7:10000/devstoreaccount1", true},
		{value("AccountName=devstoreaccount1;BlobEndpoint=http://localhost:1234/devstoreaccount1/;"), "http://localhost:1234/devstoreaccount1", true},
		{value("DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=k==;EndpointSuffix=core.chinacloudapi.cn"), "https://acct.blob.core.chinacloudapi.cn", false},
		{value("AccountName=acct"), "https://acct.blob.core.windows.net", false},
		{section("blobServiceUri", "https://acct.blob.core.windows.net/"), "https://acct.blob.core.windows.net", false},
		{section("accountName", "acct"), "https://acct.blob.core.windows.net", false},
	}
	for _, tt := range tests {
		got := servers(nil).blobEndpoint(tt.conn)
		if got != tt.want || IsDevelopment(got) != tt.development {
			t.Errorf("blobEndpoint(%+v) = %q, development %v, want %q, %v", tt.conn, got, IsDevelopment(got), tt.want, tt.development)
		}
	}
	for _, scheme := range []string{"http", "https"} {
		served := servers{blobService: serverAt(scheme + "://127.0.0.1:40000")}
		if got, want := served.blobEndpoint(value("UseDevelopmentStorage=true")), scheme+"://127.0.0.1:40000/devstoreaccount1"; got != want {
			t.Errorf("blobEndpoint when it is served = %q, want %q", got, want)
		}
	}
}

// The connections that mean the embedded account (spec storage 13, E-1, E-7): b, q
// or both of its services, for a host with the usual addresses, and for one that
// serves its account elsewhere.
func TestEmbeddedConnection(t *testing.T) {
	t.Parallel()
	const account = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=x;"
	at := func(blob, queue string) string {
		return account + "BlobEndpoint=http://" + blob + "/devstoreaccount1;QueueEndpoint=http://" + queue + "/devstoreaccount1;"
	}
	for _, tt := range []struct {
		value         string
		usual, served string
	}{
		{"UseDevelopmentStorage=true", "bq", "bq"},
		{" usedevelopmentstorage = TRUE ;", "bq", "bq"},
		{"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://127.0.0.1", "bq", "bq"},
		{"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://localhost:8888", "bq", "bq"},
		{"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite", "", ""},
		{at("127.0.0.1:10000", "127.0.0.1:10001"), "bq", ""},
		{at("localhost:10000", "[::1]:10001"), "bq", ""},
		{at("127.0.0.1:40000", "localhost:40001"), "", "bq"}, // the string that it prints
		{at("127.0.0.1:40000", "127.0.0.1:10001"), "q", "b"},
		{at("127.0.0.1:41000", "127.0.0.1:41001"), "", ""}, // another emulator
		{at("10.0.0.7:10000", "10.0.0.7:10001"), "", ""},
		{strings.ReplaceAll(at("127.0.0.1:10000", "127.0.0.1:10001"), "http:", "https:"), "bq", ""},
		{account + "BlobEndpoint=http://devstoreaccount1.blob.localhost:10000;", "b", ""},
		{strings.ReplaceAll(at("127.0.0.1:10000", "127.0.0.1:10001"), "/devstoreaccount1", "/other"), "", ""},
		{"BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;SharedAccessSignature=sv=1&sig=x", "", ""},
		{account, "", ""}, // without endpoints SDKs look for it in the cloud
		{"DefaultEndpointsProtocol=https;AccountName=prod;AccountKey=x;EndpointSuffix=core.windows.net", "", ""},
		{"UseDevelopmentStorage=false", "", ""},
		{"nonsense", "", ""},
		{"", "", ""},
	} {
		conn := appsettings.Connection{Setting: "AzureWebJobsPayments", Value: tt.value}
		usual := NewConnections(nil, embeddedFor(t), &ConnectionOptions{})
		served := NewConnections(nil, embeddedFor(t), &ConnectionOptions{})
		served.StorageAt("http://127.0.0.1:40000", "https://127.0.0.1:40001")
		for _, of := range []struct {
			c    *Connections
			want string
		}{{usual, tt.usual}, {served, tt.served}} {
			got := ""
			if of.c.servers.isEmbedded(conn, blobService) {
				got += "b"
			}
			if of.c.servers.isEmbedded(conn, queueService) {
				got += "q"
			}
			if got != of.want {
				t.Errorf("servers %v, %q: embedded are %q, want %q", of.c.servers, tt.value, got, of.want)
			}
		}
		_, err := usual.Queues(conn)
		if embedded := strings.Contains(tt.usual, "q"); (err == nil) != embedded {
			t.Errorf("Queues(%q): %v", tt.value, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "AzureWebJobsPayments") || !strings.Contains(err.Error(), "UseDevelopmentStorage=true")) {
			t.Errorf("error %q names neither the setting nor the way out", err)
		}
		if tt.value != "" && err != nil && strings.Contains(err.Error(), tt.value) {
			t.Errorf("error %q shows a connection string", err)
		}
	}
}

// A connection by its parts is embedded where its addresses are.
func TestEmbeddedSection(t *testing.T) {
	t.Parallel()
	conn := appsettings.Connection{Section: map[string]string{"blobServiceUri": "http://127.0.0.1:10000/devstoreaccount1", "queueServiceUri": "https://acct.queue.core.windows.net"}}
	if d := servers(nil); !d.isEmbedded(conn, blobService) || d.isEmbedded(conn, queueService) {
		t.Error("want blobs embedded and queues outside")
	}
}

// embeddedFor are embedded services in memory.
func embeddedFor(t *testing.T, accounts ...string) *Embedded {
	t.Helper()
	clk := clock.NewVirtual(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	t.Cleanup(clk.Close)
	e, err := Open(clk, &Options{
		Accounts: accounts, Record: func(journal.Record) {}, Made: func() {}, BlobEvent: func(string, blobs.Event) {},
		Function: func(string) eventgrid.Endpoint { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

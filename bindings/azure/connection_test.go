package azure_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/azure"
)

const key = "c2Vjb25kIGtleSBvZiB0aGUgYWNjb3VudA=="

const devKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

func TestParseConnectionString(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want azure.Connection
		err  string
	}{
		{text: "UseDevelopmentStorage=true", want: azure.Connection{Account: "devstoreaccount1", Key: devKey,
			QueueEndpoint: "http://127.0.0.1:10001/devstoreaccount1", BlobEndpoint: "http://127.0.0.1:10000/devstoreaccount1", TableEndpoint: "http://127.0.0.1:10002/devstoreaccount1"}},
		{text: " usedevelopmentstorage = TRUE ; DevelopmentStorageProxyUri=http://proxy:99;", want: azure.Connection{Account: "devstoreaccount1", Key: devKey,
			QueueEndpoint: "http://proxy:10001/devstoreaccount1", BlobEndpoint: "http://proxy:10000/devstoreaccount1", TableEndpoint: "http://proxy:10002/devstoreaccount1"}},
		{text: "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=" + key + ";EndpointSuffix=core.windows.net", want: azure.Connection{Account: "acme", Key: key,
			QueueEndpoint: "https://acme.queue.core.windows.net", BlobEndpoint: "https://acme.blob.core.windows.net", TableEndpoint: "https://acme.table.core.windows.net"}},
		{text: "AccountName=acme;AccountKey=" + key, want: azure.Connection{Account: "acme", Key: key,
			QueueEndpoint: "https://acme.queue.core.windows.net", BlobEndpoint: "https://acme.blob.core.windows.net", TableEndpoint: "https://acme.table.core.windows.net"}},
		{text: "AccountName=acme;AccountKey=" + key + ";QueueEndpoint=http://127.0.0.1:1/acme/;Other=1", want: azure.Connection{Account: "acme", Key: key,
			QueueEndpoint: "http://127.0.0.1:1/acme", BlobEndpoint: "https://acme.blob.core.windows.net", TableEndpoint: "https://acme.table.core.windows.net"}},
		{text: "QueueEndpoint=https://acme.queue.core.windows.net;SharedAccessSignature=?sv=1&sig=a%3D", want: azure.Connection{SAS: "sv=1&sig=a%3D",
			QueueEndpoint: "https://acme.queue.core.windows.net"}},
		{text: "", err: "connection string: empty"},
		{text: ";;", err: "connection string: empty"},
		{text: "hello", err: "connection string: want fields of the form name=value, separated by semicolons"},
		{text: "UseDevelopmentStorage=false", err: "connection string: UseDevelopmentStorage must be true"},
		{text: "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=proxy", err: `connection string: DevelopmentStorageProxyUri "proxy": want an address such as http://127.0.0.1:10001/account`},
		{text: "AccountName=acme", err: "connection string: AccountKey or SharedAccessSignature is missing"},
		{text: "AccountKey=" + key, err: "connection string: AccountName or an endpoint is missing"},
		{text: "QueueEndpoint=http://x;AccountKey=" + key, err: "connection string: AccountName is missing"},
		{text: "AccountName=a;AccountKey=!secret!", err: "connection string: AccountKey is not base64"},
		{text: "AccountName=a;AccountName=b;AccountKey=" + key, err: `connection string: field "accountname" is given twice`},
		{text: "AccountName=a;SharedAccessSignature=x;AccountKey=" + key, err: "connection string: AccountKey and SharedAccessSignature exclude each other"},
		{text: "DefaultEndpointsProtocol=ftp;AccountName=a;AccountKey=" + key, err: `connection string: DefaultEndpointsProtocol "ftp": want https or http`},
		{text: "QueueEndpoint=127.0.0.1:10001;AccountName=a;AccountKey=" + key, err: `connection string: QueueEndpoint "127.0.0.1:10001": want an address such as http://127.0.0.1:10001/account`},
		{text: "AccountName=a b;AccountKey=" + key, err: `connection string: QueueEndpoint "https://a b.queue.core.windows.net": want an address such as http://127.0.0.1:10001/account`},
	} {
		got, err := azure.ParseConnectionString(row.text)
		if err != nil || row.err != "" {
			if err == nil || err.Error() != row.err {
				t.Errorf("ParseConnectionString(%q) = %v, want %s", row.text, err, row.err)
			}
			continue
		}
		if diff := cmp.Diff(&row.want, got); diff != "" {
			t.Errorf("ParseConnectionString(%q) (-want +got):\n%s", row.text, diff)
		}
	}
	if _, err := azure.NewQueueAccount("BlobEndpoint=http://x;SharedAccessSignature=a", nil); err == nil || err.Error() != "connection string: QueueEndpoint is missing" {
		t.Errorf("blobs only: %v", err)
	}
	if _, err := azure.NewQueueAccount("UseDevelopmentStorage=true", nil); err != nil {
		t.Errorf("UseDevelopmentStorage=true: %v", err)
	}
}

// FuzzConnectionString: what is accepted has an address and one way to prove who
// calls.
func FuzzConnectionString(f *testing.F) {
	f.Add("UseDevelopmentStorage=true", "x")
	f.Add("AccountName=acme;AccountKey=%;EndpointSuffix=core.windows.net", key)
	f.Add("QueueEndpoint=http://127.0.0.1:10001/a;SharedAccessSignature=%", "sv=1&sig=secretsecret")
	f.Fuzz(func(t *testing.T, text, secret string) {
		c, err := azure.ParseConnectionString(strings.ReplaceAll(text, "%", secret))
		if err != nil {
			return
		}
		if (c.Key == "") == (c.SAS == "") || c.QueueEndpoint == "" && c.BlobEndpoint == "" {
			t.Errorf("connection = %+v", c)
		}
	})
}

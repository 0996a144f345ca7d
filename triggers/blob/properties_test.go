package blob_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	trigger "github.com/redeliver/redeliver/triggers/blob"
)

// The properties of a blob in the metadata have the platform's form (observed, 4.1037, save
// for the times and the tier's change, which the service of that run set).
func TestPlatformProperties(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 7, 47, 13, 0, time.UTC)
	pattern, err := blob.ParsePattern("box/{name}")
	if err != nil {
		t.Fatal(err)
	}
	storage := newBench(t).storage
	f := &trigger.Function{Pattern: pattern, Account: trigger.Account{Blobs: storage, Endpoint: "http://127.0.0.1:10000/devstoreaccount1"}, Platform: true}
	m := f.Message("box", "a b.json", &blob.Properties{
		Type: blob.BlockBlob, Created: at.Add(5 * time.Millisecond), LastModified: at, ETag: `"0x1"`, ContentLength: 7, Metadata: map[string]string{"zeta": "1"},
		Headers: blob.Headers{ContentType: "application/json", ContentMD5: []byte{1, 2, 3}},
		Lease:   blob.LeaseProperties{State: "available", Status: "unlocked"}, AccessTier: "Hot", AccessTierInferred: true,
	})
	const want = `{"LastModified":"2026-11-27T07:47:13+00:00","CreatedOn":"2026-11-27T07:47:13+00:00","Metadata":{"zeta":"1"},` +
		`"ObjectReplicationDestinationPolicyId":null,"ObjectReplicationSourceProperties":null,"BlobType":0,"CopyCompletedOn":"0001-01-01T00:00:00+00:00",` +
		`"CopyStatusDescription":null,"CopyId":null,"CopyProgress":null,"CopySource":null,"CopyStatus":0,"BlobCopyStatus":null,"IsIncrementalCopy":false,` +
		`"DestinationSnapshot":null,"LeaseDuration":0,"LeaseState":0,"LeaseStatus":1,"ContentLength":7,"ContentType":"application/json","ETag":{},` +
		`"ContentHash":"AQID","ContentEncoding":null,"ContentDisposition":null,"ContentLanguage":null,"CacheControl":null,"BlobSequenceNumber":0,` +
		`"AcceptRanges":"bytes","BlobCommittedBlockCount":0,"IsServerEncrypted":true,"EncryptionKeySha256":null,"EncryptionScope":null,"AccessTier":"Hot",` +
		`"AccessTierInferred":true,"ArchiveStatus":null,"AccessTierChangedOn":"0001-01-01T00:00:00+00:00","VersionId":null,"IsLatestVersion":false,` +
		`"TagCount":0,"ExpiresOn":"0001-01-01T00:00:00+00:00","IsSealed":false,"RehydratePriority":null,"LastAccessed":"0001-01-01T00:00:00+00:00",` +
		`"ImmutabilityPolicy":{"ExpiresOn":null,"PolicyMode":null},"HasLegalHold":false}`
	if got, _ := m.Metadata["Properties"].(json.RawMessage); string(got) != want {
		t.Errorf("properties\n%s\nwant\n%s", got, want)
	}
	if m.Metadata["Uri"] != bindings.URI("http://127.0.0.1:10000/devstoreaccount1/box/a%20b.json") {
		t.Errorf("Uri is %v", m.Metadata["Uri"])
	}
}

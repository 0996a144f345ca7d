package azure_test

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
)

// TestGoBlobSDKTags: tags that are set with a blob and apart from it, conditions on
// them, and blobs that are found by them.
func TestGoBlobSDKTags(t *testing.T) {
	t.Parallel()
	b, ctx := openBlobSDK(t, clock.NewVirtual(start, nil)), t.Context()
	_, err := b.UploadStream(ctx, "box", "a", strings.NewReader("x"), &azblob.UploadStreamOptions{Tags: map[string]string{"state": "a b+c"}})
	b.must("UploadStream", err)
	client := b.container().NewBlobClient("a")
	got, err := client.GetTags(ctx, nil)
	b.must("GetTags", err)
	if len(got.BlobTagSet) != 1 || *got.BlobTagSet[0].Key != "state" || *got.BlobTagSet[0].Value != "a b+c" {
		t.Errorf("tags = %+v", got.BlobTagSet)
	}
	p, err := client.GetProperties(ctx, nil)
	b.must("GetProperties", err)
	if *p.TagCount != 1 {
		t.Errorf("tag count = %d", *p.TagCount)
	}
	_, err = client.SetTags(ctx, map[string]string{"state": "done", "n": "1"}, nil)
	b.must("SetTags", err)
	_, err = client.SetTags(ctx, map[string]string{"k#": ""}, nil)
	b.fails("SetTags with a bad name", err, "InvalidTag")

	where := func(text string) *blob.AccessConditions {
		return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfTags: to.Ptr(text)}}
	}
	_, err = client.GetProperties(ctx, &blob.GetPropertiesOptions{AccessConditions: where("state = 'done'")})
	b.must("GetProperties if done", err)
	_, err = client.Delete(ctx, &blob.DeleteOptions{AccessConditions: where("state = 'open'")})
	b.fails("Delete if open", err, bloberror.ConditionNotMet)

	found, err := b.ServiceClient().FilterBlobs(ctx, "@container = 'box' AND state = 'done'", &service.FilterBlobsOptions{MaxResults: to.Ptr(int32(5))})
	b.must("FilterBlobs", err)
	if len(found.Blobs) != 1 || *found.Blobs[0].Name != "a" || *found.Blobs[0].ContainerName != "box" || len(found.Blobs[0].Tags.BlobTagSet) != 1 {
		t.Errorf("found = %+v", found.Blobs)
	}
	inside, err := b.container().FilterBlobs(ctx, "n >= '2'", nil)
	b.must("FilterBlobs of the container", err)
	if len(inside.Blobs) != 0 {
		t.Errorf("found = %+v, want none", inside.Blobs)
	}
	_, err = b.ServiceClient().FilterBlobs(ctx, "n >= 2", nil)
	b.fails("FilterBlobs with a wrong expression", err, bloberror.InvalidQueryParameterValue)
}

// Tags go with the writes of a binding's account, and come back in its listings.
func TestAccountTags(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	account := connectBlobs(t, openBlobServer(t, clock.NewVirtual(start, nil)))
	c := account.Container("box")
	if _, err := c.Create(ctx, nil); err != nil {
		t.Fatal(err)
	}
	tags := map[string]string{"k": "v+ w"}
	if _, err := c.Blob("a").Put(ctx, strings.NewReader("x"), &blobapi.PutOptions{Tags: tags}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Blob("b").PutBlockList(ctx, nil, &blobapi.PutOptions{Tags: tags}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Blob("c").CopyFrom(ctx, blobapi.Source{Container: "box", Name: "a"}, &blobapi.CopyOptions{Tags: tags}); err != nil {
		t.Fatal(err)
	}
	page, err := c.Blobs(ctx, &blobapi.ListOptions{Include: blobapi.ListInclude{Tags: true}})
	if err != nil || len(page.Blobs) != 3 {
		t.Fatalf("blobs = %+v, %v", page, err)
	}
	for _, item := range page.Blobs {
		if item.Properties.Tags["k"] != "v+ w" {
			t.Errorf("tags of %s = %v, want %v", item.Name, item.Properties.Tags, tags)
		}
	}
	_, err = c.Blob("a").Get(ctx, &blobapi.GetOptions{Conditions: &blobapi.Conditions{IfTags: "k = 'x'"}})
	if storage.CodeOf(err) != storage.CodeConditionNotMet {
		t.Errorf("get with a condition that does not hold = %v", err)
	}
}

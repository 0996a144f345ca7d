package azure

import (
	"context"
	"net/http"
	"strings"
	"time"

	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// container is a handle on a container. It serves the calls of
// blob.Container.
type container struct {
	account *BlobAccount
	name    string
	nameErr error
	client  *sdk.Client // nil if the name is wrong
}

func (c *container) Name() string { return c.name }

func (c *container) Blob(name string) blobapi.Blob {
	name = strings.ReplaceAll(name, `\`, "/")
	b := &blob{container: c, name: name, nameErr: c.nameErr}
	if b.nameErr == nil {
		b.nameErr = blobapi.ValidateName(name)
	}
	if b.nameErr == nil {
		b.client = c.client.NewBlobClient(name)
	}
	return b
}

func (c *container) call(ctx context.Context, header http.Header, f func(ctx context.Context) error) (http.Header, error) {
	if c.nameErr != nil {
		return nil, c.nameErr
	}
	return blobCall(ctx, header, f)
}

// wrote is the answer to a write.
func wrote(h http.Header, err error) (*blobapi.Written, error) {
	if err != nil {
		return nil, err
	}
	return written(h), nil
}

func (c *container) Create(ctx context.Context, opts *blobapi.CreateContainerOptions) (*blobapi.Written, error) {
	if opts == nil {
		opts = &blobapi.CreateContainerOptions{}
	}
	if err := checkMetadata(opts.Metadata); err != nil {
		return nil, err
	}
	return wrote(c.call(ctx, nil, func(ctx context.Context) error {
		_, err := c.client.Create(ctx, &sdk.CreateOptions{Metadata: sdkMetadata(opts.Metadata), Access: access(opts.PublicAccess)})
		return err
	}))
}

func access(level blobapi.PublicAccess) *sdk.PublicAccessType {
	if level == blobapi.NoPublicAccess {
		return nil
	}
	out := sdk.PublicAccessType(level)
	return &out
}

func (c *container) Properties(ctx context.Context, cond *blobapi.Conditions) (*blobapi.ContainerProperties, error) {
	h, err := c.call(ctx, conditionHeaders("", cond), func(ctx context.Context) error {
		_, err := c.client.GetProperties(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &blobapi.ContainerProperties{
		ETag: h.Get("ETag"), LastModified: timeOf(h, "Last-Modified"), Metadata: metadataOf(h), Lease: leaseOf(h),
		PublicAccess: blobapi.PublicAccess(h.Get("X-Ms-Blob-Public-Access")),
	}, nil
}

func (c *container) SetMetadata(ctx context.Context, metadata map[string]string, cond *blobapi.Conditions) (*blobapi.Written, error) {
	if err := checkMetadata(metadata); err != nil {
		return nil, err
	}
	return wrote(c.call(ctx, conditionHeaders("", cond), func(ctx context.Context) error {
		_, err := c.client.SetMetadata(ctx, &sdk.SetMetadataOptions{Metadata: sdkMetadata(metadata)})
		return err
	}))
}

func (c *container) Access(ctx context.Context, cond *blobapi.Conditions) (*blobapi.ContainerAccess, error) {
	var got sdk.GetAccessPolicyResponse
	h, err := c.call(ctx, conditionHeaders("", cond), func(ctx context.Context) (err error) {
		got, err = c.client.GetAccessPolicy(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	a := &blobapi.ContainerAccess{
		PublicAccess: blobapi.PublicAccess(h.Get("X-Ms-Blob-Public-Access")), ETag: h.Get("ETag"), LastModified: timeOf(h, "Last-Modified"),
	}
	for _, i := range got.SignedIdentifiers {
		p := storage.AccessPolicy{ID: value(i.ID)}
		if i.AccessPolicy != nil {
			p.Start, p.Expiry, p.Permission = value(i.AccessPolicy.Start).UTC(), value(i.AccessPolicy.Expiry).UTC(), value(i.AccessPolicy.Permission)
		}
		a.Policies = append(a.Policies, p)
	}
	return a, nil
}

func (c *container) SetAccess(ctx context.Context, a *blobapi.ContainerAccess, cond *blobapi.Conditions) (*blobapi.Written, error) {
	opts := &sdk.SetAccessPolicyOptions{Access: access(a.PublicAccess), ContainerACL: []*sdk.SignedIdentifier{}}
	for _, p := range a.Policies {
		policy := &sdk.AccessPolicy{Start: orNoTime(p.Start), Expiry: orNoTime(p.Expiry), Permission: orNil(p.Permission)}
		opts.ContainerACL = append(opts.ContainerACL, &sdk.SignedIdentifier{ID: &p.ID, AccessPolicy: policy})
	}
	return wrote(c.call(ctx, conditionHeaders("", cond), func(ctx context.Context) error {
		_, err := c.client.SetAccessPolicy(ctx, opts)
		return err
	}))
}

func orNoTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

func (c *container) Delete(ctx context.Context, cond *blobapi.Conditions) error {
	_, err := c.call(ctx, conditionHeaders("", cond), func(ctx context.Context) error {
		_, err := c.client.Delete(ctx, nil)
		return err
	})
	return err
}

func (c *container) Blobs(ctx context.Context, opts *blobapi.ListOptions) (*blobapi.Page, error) {
	if opts == nil {
		opts = &blobapi.ListOptions{}
	}
	size, err := pageSize(opts.MaxResults)
	if err != nil {
		return nil, err
	}
	include := sdk.ListBlobsInclude{
		Metadata: opts.Include.Metadata, Copy: opts.Include.Copy, Snapshots: opts.Include.Snapshots, UncommittedBlobs: opts.Include.Uncommitted,
		Tags: opts.Include.Tags,
	}
	page := &blobapi.Page{}
	_, err = c.call(ctx, nil, func(ctx context.Context) error {
		if opts.Delimiter != "" {
			got, err := c.client.NewListBlobsHierarchyPager(opts.Delimiter, &sdk.ListBlobsHierarchyOptions{
				Prefix: orNil(opts.Prefix), StartFrom: orNil(opts.StartFrom), Marker: orNil(opts.Marker), MaxResults: size, Include: include,
			}).NextPage(ctx)
			if err != nil {
				return err
			}
			addItems(page, got.Segment.BlobItems, opts.Include)
			for _, p := range got.Segment.BlobPrefixes {
				page.Prefixes = append(page.Prefixes, value(p.Name))
			}
			page.NextMarker = value(got.NextMarker)
			return nil
		}
		got, err := c.client.NewListBlobsFlatPager(&sdk.ListBlobsFlatOptions{
			Prefix: orNil(opts.Prefix), StartFrom: orNil(opts.StartFrom), Marker: orNil(opts.Marker), MaxResults: size, Include: include,
		}).NextPage(ctx)
		if err != nil {
			return err
		}
		addItems(page, got.Segment.BlobItems, opts.Include)
		page.NextMarker = value(got.NextMarker)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

func addItems(page *blobapi.Page, items []*sdk.BlobItem, include blobapi.ListInclude) {
	for _, item := range items {
		p := item.Properties
		out := blobapi.Item{Name: value(item.Name), Snapshot: value(item.Snapshot), Properties: blobapi.Properties{
			Type: blobapi.Type(text(p.BlobType)), Created: value(p.CreationTime).UTC(), LastModified: value(p.LastModified).UTC(),
			ETag: quoted(p.ETag), ContentLength: value(p.ContentLength), Metadata: plainMetadata(item.Metadata),
			Lease:      blobapi.LeaseProperties{State: text(p.LeaseState), Status: text(p.LeaseStatus), Duration: text(p.LeaseDuration)},
			AccessTier: text(p.AccessTier), AccessTierInferred: value(p.AccessTierInferred), AccessTierSet: value(p.AccessTierChangeTime).UTC(),
			ArchiveStatus: text(p.ArchiveStatus), RehydratePriority: text(p.RehydratePriority),
			Headers: blobapi.Headers{
				ContentType: value(p.ContentType), ContentEncoding: value(p.ContentEncoding), ContentLanguage: value(p.ContentLanguage),
				ContentDisposition: value(p.ContentDisposition), CacheControl: value(p.CacheControl),
			},
		}}
		if len(p.ContentMD5) > 0 {
			out.Properties.Headers.ContentMD5 = p.ContentMD5
		}
		if p.CopyID != nil && include.Copy {
			out.Properties.Copy = &blobapi.CopyState{
				ID: *p.CopyID, Source: value(p.CopySource), Status: text(p.CopyStatus),
				Completed: value(p.CopyCompletionTime).UTC(), Bytes: copied(value(p.CopyProgress)),
			}
		}
		out.Properties.TagCount, out.Properties.Sealed = int(value(p.TagCount)), value(p.IsSealed)
		out.Properties.Sequence = value(p.BlobSequenceNumber)
		if item.BlobTags != nil && include.Tags {
			out.Properties.Tags = map[string]string{}
			for _, tag := range item.BlobTags.BlobTagSet {
				out.Properties.Tags[value(tag.Key)] = value(tag.Value)
			}
		}
		page.Blobs = append(page.Blobs, out)
	}
}

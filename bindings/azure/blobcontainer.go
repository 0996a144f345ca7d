package azure

import (
	"context"
	"net/http"
	"strings"
	"time"

	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/redeliver/redeliver/bindings"
)

// container is a handle on a container. It serves the calls of
// bindings.Container.
type container struct {
	account *BlobAccount
	name    string
	nameErr error
	client  *sdk.Client // nil if the name is wrong
}

func (c *container) Name() string { return c.name }

func (c *container) Blob(name string) bindings.Blob {
	name = strings.ReplaceAll(name, `\`, "/")
	b := &blob{container: c, name: name, nameErr: c.nameErr}
	if b.nameErr == nil {
		b.nameErr = bindings.ValidateBlobName(name)
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
func wrote(h http.Header, err error) (*bindings.Written, error) {
	if err != nil {
		return nil, err
	}
	return written(h), nil
}

func (c *container) Create(ctx context.Context, opts *bindings.CreateContainerOptions) (*bindings.Written, error) {
	if opts == nil {
		opts = &bindings.CreateContainerOptions{}
	}
	if err := checkMetadata(opts.Metadata); err != nil {
		return nil, err
	}
	return wrote(c.call(ctx, nil, func(ctx context.Context) error {
		_, err := c.client.Create(ctx, &sdk.CreateOptions{Metadata: sdkMetadata(opts.Metadata), Access: access(opts.PublicAccess)})
		return err
	}))
}

func access(level bindings.PublicAccess) *sdk.PublicAccessType {
	if level == bindings.NoPublicAccess {
		return nil
	}
	out := sdk.PublicAccessType(level)
	return &out
}

func (c *container) Properties(ctx context.Context, cond *bindings.BlobConditions) (*bindings.ContainerProperties, error) {
	h, err := c.call(ctx, conditionHeaders("", cond), func(ctx context.Context) error {
		_, err := c.client.GetProperties(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &bindings.ContainerProperties{
		ETag: h.Get("ETag"), LastModified: timeOf(h, "Last-Modified"), Metadata: metadataOf(h), Lease: leaseOf(h),
		PublicAccess: bindings.PublicAccess(h.Get("X-Ms-Blob-Public-Access")),
	}, nil
}

func (c *container) SetMetadata(ctx context.Context, metadata map[string]string, cond *bindings.BlobConditions) (*bindings.Written, error) {
	if err := checkMetadata(metadata); err != nil {
		return nil, err
	}
	return wrote(c.call(ctx, conditionHeaders("", cond), func(ctx context.Context) error {
		_, err := c.client.SetMetadata(ctx, &sdk.SetMetadataOptions{Metadata: sdkMetadata(metadata)})
		return err
	}))
}

func (c *container) Access(ctx context.Context, cond *bindings.BlobConditions) (*bindings.ContainerAccess, error) {
	var got sdk.GetAccessPolicyResponse
	h, err := c.call(ctx, conditionHeaders("", cond), func(ctx context.Context) (err error) {
		got, err = c.client.GetAccessPolicy(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	a := &bindings.ContainerAccess{
		PublicAccess: bindings.PublicAccess(h.Get("X-Ms-Blob-Public-Access")), ETag: h.Get("ETag"), LastModified: timeOf(h, "Last-Modified"),
	}
	for _, i := range got.SignedIdentifiers {
		p := bindings.AccessPolicy{ID: value(i.ID)}
		if i.AccessPolicy != nil {
			p.Start, p.Expiry, p.Permission = value(i.AccessPolicy.Start).UTC(), value(i.AccessPolicy.Expiry).UTC(), value(i.AccessPolicy.Permission)
		}
		a.Policies = append(a.Policies, p)
	}
	return a, nil
}

func (c *container) SetAccess(ctx context.Context, a *bindings.ContainerAccess, cond *bindings.BlobConditions) (*bindings.Written, error) {
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

func (c *container) Delete(ctx context.Context, cond *bindings.BlobConditions) error {
	_, err := c.call(ctx, conditionHeaders("", cond), func(ctx context.Context) error {
		_, err := c.client.Delete(ctx, nil)
		return err
	})
	return err
}

func (c *container) Blobs(ctx context.Context, opts *bindings.ListBlobsOptions) (*bindings.BlobPage, error) {
	if opts == nil {
		opts = &bindings.ListBlobsOptions{}
	}
	size, err := pageSize(opts.MaxResults)
	if err != nil {
		return nil, err
	}
	include := sdk.ListBlobsInclude{
		Metadata: opts.Include.Metadata, Copy: opts.Include.Copy, Snapshots: opts.Include.Snapshots, UncommittedBlobs: opts.Include.Uncommitted,
		Tags: opts.Include.Tags,
	}
	page := &bindings.BlobPage{}
	_, err = c.call(ctx, nil, func(ctx context.Context) error {
		if opts.Delimiter != "" {
			got, err := c.client.NewListBlobsHierarchyPager(opts.Delimiter, &sdk.ListBlobsHierarchyOptions{
				Prefix: orNil(opts.Prefix), Marker: orNil(opts.Marker), MaxResults: size, Include: include,
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
			Prefix: orNil(opts.Prefix), Marker: orNil(opts.Marker), MaxResults: size, Include: include,
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

func addItems(page *bindings.BlobPage, items []*sdk.BlobItem, include bindings.ListInclude) {
	for _, item := range items {
		p := item.Properties
		out := bindings.BlobItem{Name: value(item.Name), Snapshot: value(item.Snapshot), Properties: bindings.BlobProperties{
			Type: bindings.BlobType(text(p.BlobType)), Created: value(p.CreationTime).UTC(), LastModified: value(p.LastModified).UTC(),
			ETag: quoted(p.ETag), ContentLength: value(p.ContentLength), Metadata: plainMetadata(item.Metadata),
			Lease:      bindings.LeaseProperties{State: text(p.LeaseState), Status: text(p.LeaseStatus), Duration: text(p.LeaseDuration)},
			AccessTier: text(p.AccessTier), AccessTierInferred: value(p.AccessTierInferred),
			Headers: bindings.BlobHeaders{
				ContentType: value(p.ContentType), ContentEncoding: value(p.ContentEncoding), ContentLanguage: value(p.ContentLanguage),
				ContentDisposition: value(p.ContentDisposition), CacheControl: value(p.CacheControl),
			},
		}}
		if len(p.ContentMD5) > 0 {
			out.Properties.Headers.ContentMD5 = p.ContentMD5
		}
		if p.CopyID != nil && include.Copy {
			out.Properties.Copy = &bindings.CopyState{
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

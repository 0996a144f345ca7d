package bindingtest

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

func asBlobError(err error, e **storage.Error) bool { return errors.As(err, e) }

// etagForm is the form of every ETag (spec storage 17.3).
var etagForm = regexp.MustCompile(`^"0x[0-9A-F]+"$`)

// containerTests are named by behaviour. The rules come from spec storage 17.1
// and from the comments in package bindings.
var containerTests = []blobTest{
	{"CreateContainerOnce", false, func(b *blobBench) {
		b.do(func(ctx context.Context, c blob.Container) {
			w, err := c.Create(ctx, &blob.CreateContainerOptions{Metadata: map[string]string{"Owner": "me"}, PublicAccess: blob.PublicBlobs})
			b.ok("Create", err)
			if !etagForm.MatchString(w.ETag) || w.LastModified.IsZero() {
				b.Errorf("Create = %+v, want an ETag and a time", w)
			}
			_, err = c.Create(ctx, nil)
			b.status("second Create", err, 409, storage.CodeContainerAlreadyExists)
			if !errors.Is(err, bindings.ErrAlreadyExists) {
				b.Errorf("second Create = %v, want ErrAlreadyExists", err)
			}
			p, err := c.Properties(ctx, nil)
			b.ok("Properties", err)
			if p.ETag != w.ETag || !p.LastModified.Equal(w.LastModified) || p.Metadata[b.name("Owner")] != "me" || p.PublicAccess != blob.PublicBlobs ||
				p.Lease != (blob.LeaseProperties{State: "available", Status: "unlocked"}) {
				b.Errorf("Properties = %+v after Create = %+v", p, w)
			}
		})
	}},
	{"MissingContainerFailsEveryCall", false, func(b *blobBench) {
		b.do(func(ctx context.Context, c blob.Container) {
			for what, err := range everyContainerCall(ctx, c) {
				b.status(what, err, 404, storage.CodeContainerNotFound)
				if !errors.Is(err, storage.ErrContainerNotFound) || !errors.Is(err, bindings.ErrNotFound) {
					b.Errorf("%s on a missing container = %v, want ErrContainerNotFound and ErrNotFound", what, err)
				}
			}
		})
	}},
	{"ContainerNamesAreChecked", false, func(b *blobBench) {
		if !b.Features.StrictNames {
			b.Skip("the backend checks names in its own way")
		}
		b.do(func(ctx context.Context, _ blob.Container) {
			for name, want := range map[string]storage.Code{
				"":                      storage.CodeOutOfRangeInput,
				"ab":                    storage.CodeOutOfRangeInput,
				strings.Repeat("a", 64): storage.CodeOutOfRangeInput,
				"Inbox":                 storage.CodeInvalidResourceName,
				"in_box":                storage.CodeInvalidResourceName,
				"-inbox":                storage.CodeInvalidResourceName,
				"inbox-":                storage.CodeInvalidResourceName,
				"in--box":               storage.CodeInvalidResourceName,
				"$other":                storage.CodeInvalidResourceName,
				"a-1":                   "",
				"$root":                 "",
				strings.Repeat("a", 63): "",
			} {
				_, err := b.Account.Container(name).Create(ctx, nil)
				b.code("Create "+name, err, want)
				if want != "" && !errors.Is(err, bindings.ErrInvalidName) {
					b.Errorf("Create(%q) = %v, want ErrInvalidName", name, err)
				}
			}
			_, err := b.Account.Container("Inbox").Blob("a").Put(ctx, strings.NewReader("a"), nil)
			b.code("Put into a container with a bad name", err, storage.CodeInvalidResourceName)
		})
	}},
	atOnce("ContainerMetadataIsReplaced", func(b *blobBench, ctx context.Context, c blob.Container) {
		before, err := c.SetMetadata(ctx, map[string]string{"a": "1", "b": "2"}, nil)
		b.ok("SetMetadata", err)
		after, err := c.SetMetadata(ctx, map[string]string{"CamelCase": "3"}, nil)
		b.ok("SetMetadata", err)
		p, err := c.Properties(ctx, nil)
		b.ok("Properties", err)
		if !maps.Equal(p.Metadata, map[string]string{b.name("CamelCase"): "3"}) || p.ETag != after.ETag || before.ETag == after.ETag {
			b.Errorf("Properties = %+v after SetMetadata = %+v and %+v", p, before, after)
		}
	}),
	atOnce("BlobWritesLeaveTheContainer", func(b *blobBench, ctx context.Context, c blob.Container) {
		before, err := c.Properties(ctx, nil)
		b.ok("Properties", err)
		b.put(ctx, c.Blob("a"), "a")
		after, err := c.Properties(ctx, nil)
		b.ok("Properties", err)
		if before.ETag != after.ETag {
			b.Errorf("ETag of the container before Put %s, after %s", before.ETag, after.ETag)
		}
	}),
	atOnce("AccessListIsStored", func(b *blobBench, ctx context.Context, c blob.Container) {
		at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		open := storage.AccessPolicy{ID: "open"}
		if b.differs("policy without terms") {
			open.Permission = "r"
		}
		policies := []storage.AccessPolicy{{ID: "read", Start: at, Expiry: at.Add(time.Hour), Permission: "rl"}, open}
		w, err := c.SetAccess(ctx, &blob.ContainerAccess{PublicAccess: blob.PublicContainer, Policies: policies}, nil)
		b.ok("SetAccess", err)
		a, err := c.Access(ctx, nil)
		b.ok("Access", err)
		if a.PublicAccess != blob.PublicContainer || !slices.Equal(a.Policies, policies) || a.ETag != w.ETag {
			b.Errorf("Access = %+v, want what was set, with ETag %s", a, w.ETag)
		}
		many := make([]storage.AccessPolicy, 6)
		for i := range many {
			many[i] = open
			many[i].ID = string(rune('a' + i))
		}
		_, err = c.SetAccess(ctx, &blob.ContainerAccess{Policies: many}, nil)
		if !b.differs("six policies") {
			b.code("SetAccess of six policies", err, storage.CodeInvalidXMLDocument)
		}
		_, err = c.SetAccess(ctx, &blob.ContainerAccess{Policies: many[:5]}, nil)
		b.code("SetAccess of five policies", err, "")
		if a, err = c.Access(ctx, nil); err != nil || a.PublicAccess != blob.NoPublicAccess {
			b.Errorf("Access = %+v, %v, want no public access any more", a, err)
		}
	}),
	atOnce("DeleteContainerRemovesBlobs", func(b *blobBench, ctx context.Context, c blob.Container) {
		b.put(ctx, c.Blob("a"), "a")
		_, err := c.Blob("a").AcquireLease(ctx, blob.InfiniteLease, "", nil)
		b.ok("AcquireLease", err)
		b.ok("Delete", c.Delete(ctx, nil))
		_, err = c.Properties(ctx, nil)
		b.code("Properties of a deleted container", err, storage.CodeContainerNotFound)
		b.code("second Delete", c.Delete(ctx, nil), storage.CodeContainerNotFound)
		if b.Features.RecreateAtOnce {
			_, err = c.Create(ctx, nil)
			b.ok("Create again", err)
			_, err = c.Blob("a").Properties(ctx, nil)
			b.code("Properties of a blob of before", err, storage.CodeBlobNotFound)
		}
	}),
	atOnce("ContainerConditions", func(b *blobBench, ctx context.Context, c blob.Container) {
		p, err := c.Properties(ctx, nil)
		b.ok("Properties", err)
		later, earlier := p.LastModified.Add(time.Hour), p.LastModified.Add(-time.Hour)
		_, err = c.SetMetadata(ctx, nil, &blob.Conditions{IfModifiedSince: later})
		b.status("SetMetadata if modified later", err, 412, storage.CodeConditionNotMet)
		b.status("Delete if unmodified since earlier", c.Delete(ctx, &blob.Conditions{IfUnmodifiedSince: earlier}), 412, storage.CodeConditionNotMet)
		b.code("Delete if unmodified since later", c.Delete(ctx, &blob.Conditions{IfUnmodifiedSince: later}), "")
	}),
	{"ContainersAreListedByName", false, func(b *blobBench) {
		b.do(func(ctx context.Context, _ blob.Container) {
			for _, name := range []string{"zebra", "alpha-2", "alpha-1", "beta"} {
				_, err := b.Account.Container(name).Create(ctx, &blob.CreateContainerOptions{Metadata: map[string]string{"n": name}})
				b.ok("Create", err)
			}
			list := func(opts *blob.ListContainersOptions) (names []string, page *blob.ContainerPage) {
				page, err := b.Account.Containers(ctx, opts)
				b.ok("Containers", err)
				for _, item := range page.Containers {
					names = append(names, item.Name)
				}
				return names, page
			}
			all := []string{"alpha-1", "alpha-2", "beta", "zebra"}
			names, page := list(nil)
			if !slices.Equal(names, all) || page.NextMarker != "" || page.Containers[0].Properties.Metadata != nil {
				b.Errorf("Containers = %q, marker %q, want %q", names, page.NextMarker, all)
			}
			if names, _ = list(&blob.ListContainersOptions{Prefix: "alpha"}); !slices.Equal(names, all[:2]) {
				b.Errorf("Containers with prefix = %q", names)
			}
			first, page := list(&blob.ListContainersOptions{MaxResults: 3, Metadata: true})
			rest, last := list(&blob.ListContainersOptions{MaxResults: 3, Marker: page.NextMarker})
			if page.Containers[0].Properties.Metadata["n"] != "alpha-1" {
				b.Errorf("Metadata in the list = %v", page.Containers[0].Properties.Metadata)
			}
			if !slices.Equal(slices.Concat(first, rest), all) || len(first) != 3 || last.NextMarker != "" {
				b.Errorf("two pages of 3 = %q and %q", first, rest)
			}
			_, err := b.Account.Containers(ctx, &blob.ListContainersOptions{MaxResults: -1})
			b.status("Containers with -1 results", err, 400, storage.CodeOutOfRangeQueryParameterValue)
		})
	}},
	{"ServicePropertiesKeepWhatIsNotSet", false, func(b *blobBench) {
		b.do(func(ctx context.Context, _ blob.Container) {
			rule := storage.CORSRule{AllowedOrigins: "*", AllowedMethods: "GET,PUT", AllowedHeaders: "x-ms-*", ExposedHeaders: "x-ms-meta-*", MaxAge: 60}
			b.ok("SetBlobServiceProperties", b.Account.SetBlobServiceProperties(ctx, &storage.ServiceProperties{CORS: &[]storage.CORSRule{rule}}))
			logging := storage.LoggingProperties{Version: "1.0", Write: true, Retention: storage.RetentionProperties{Enabled: true, Days: 7}}
			b.ok("SetBlobServiceProperties", b.Account.SetBlobServiceProperties(ctx, &storage.ServiceProperties{Logging: &logging}))
			p, err := b.Account.BlobServiceProperties(ctx)
			b.ok("BlobServiceProperties", err)
			if p.CORS == nil || !slices.Equal(*p.CORS, []storage.CORSRule{rule}) || p.Logging == nil || *p.Logging != logging {
				b.Errorf("BlobServiceProperties = %+v", p)
			}
			if b.differs("six rules") {
				return
			}
			six := make([]storage.CORSRule, 6)
			b.code("six CORS rules", b.Account.SetBlobServiceProperties(ctx, &storage.ServiceProperties{CORS: &six}), storage.CodeInvalidXMLDocument)
		})
	}},
}

// everyContainerCall makes each call that needs the container.
func everyContainerCall(ctx context.Context, c blob.Container) map[string]error {
	errs := map[string]error{}
	a := c.Blob("a")
	const guid = "11111111-2222-3333-4444-555555555555"
	_, errs["Container.Properties"] = c.Properties(ctx, nil)
	_, errs["Container.SetMetadata"] = c.SetMetadata(ctx, nil, nil)
	_, errs["Access"] = c.Access(ctx, nil)
	_, errs["SetAccess"] = c.SetAccess(ctx, &blob.ContainerAccess{}, nil)
	_, errs["Blobs"] = c.Blobs(ctx, nil)
	_, errs["Container.AcquireLease"] = c.AcquireLease(ctx, blob.InfiniteLease, "", nil)
	errs["Container.Delete"] = c.Delete(ctx, nil)
	_, errs["Put"] = a.Put(ctx, strings.NewReader("a"), nil)
	_, errs["PutBlock"] = a.PutBlock(ctx, "AAAA", strings.NewReader("a"), nil)
	_, errs["PutBlockList"] = a.PutBlockList(ctx, nil, nil)
	for what, err := range everyBlobCall(ctx, a, guid) {
		errs[what] = err
	}
	return errs
}

// everyBlobCall makes each call that needs the blob.
func everyBlobCall(ctx context.Context, a blob.Blob, lease string) map[string]error {
	errs := map[string]error{}
	_, errs["BlockList"] = a.BlockList(ctx, nil)
	_, errs["AppendBlock"] = a.AppendBlock(ctx, strings.NewReader("a"), nil)
	_, errs["Get"] = a.Get(ctx, nil)
	_, errs["Properties"] = a.Properties(ctx, nil)
	_, errs["SetHeaders"] = a.SetHeaders(ctx, blob.Headers{}, nil)
	_, errs["SetMetadata"] = a.SetMetadata(ctx, nil, nil)
	errs["Delete"] = a.Delete(ctx, nil)
	_, errs["Snapshot"] = a.Snapshot(ctx, nil)
	_, errs["AcquireLease"] = a.AcquireLease(ctx, blob.InfiniteLease, "", nil)
	_, errs["RenewLease"] = a.RenewLease(ctx, lease, nil)
	_, errs["ChangeLease"] = a.ChangeLease(ctx, lease, lease, nil)
	_, errs["ReleaseLease"] = a.ReleaseLease(ctx, lease, nil)
	_, errs["BreakLease"] = a.BreakLease(ctx, nil, nil)
	return errs
}

package blobs

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// Container returns a handle on the container of that name.
func (s *Service) Container(name string) blobapi.Container {
	return s.ContainerIn(nil, name)
}

// ContainerIn returns a handle that ends with an epoch.
func (s *Service) ContainerIn(e *epoch.Epoch, name string) blobapi.Container {
	return &container{s: s, epoch: e, name: name}
}

// Containers lists containers by name.
func (s *Service) Containers(ctx context.Context, opts *blobapi.ListContainersOptions) (*blobapi.ContainerPage, error) {
	if opts == nil {
		opts = &blobapi.ListContainersOptions{}
	}
	limit, err := pageSize(opts.MaxResults)
	if err != nil {
		return nil, err
	}
	from, _, err := parseMarker(opts.Marker)
	if err != nil {
		return nil, err
	}
	page := &blobapi.ContainerPage{}
	err = s.operate(ctx, account.FaultPoint{Service: "blob", Op: "Containers"}, false, func(tx *blobTx) error {
		for name := range tx.names.From(max(from, opts.Prefix)) {
			if !strings.HasPrefix(name, opts.Prefix) {
				break
			}
			if len(page.Containers) == limit {
				page.NextMarker = marker(name, "")
				break
			}
			item := blobapi.ContainerItem{Name: name, Properties: tx.containers[name].record.properties(tx.now)}
			if !opts.Metadata {
				item.Properties.Metadata = nil
			}
			page.Containers = append(page.Containers, item)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// BlobServiceProperties returns the settings of the blob service.
func (s *Service) BlobServiceProperties(ctx context.Context) (*storage.ServiceProperties, error) {
	var p storage.ServiceProperties
	err := s.operate(ctx, account.FaultPoint{Service: "blob", Op: "BlobServiceProperties"}, false, func(tx *blobTx) error {
		p = account.CloneProperties(tx.account.Properties)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// SetBlobServiceProperties replaces the settings that are not nil in p.
func (s *Service) SetBlobServiceProperties(ctx context.Context, p *storage.ServiceProperties) error {
	const maxCORSRules = 5
	if p.CORS != nil && len(*p.CORS) > maxCORSRules {
		return blobError(storage.CodeInvalidXMLDocument, "%d CORS rules: want at most %d", len(*p.CORS), maxCORSRules)
	}
	return s.operate(ctx, account.FaultPoint{Service: "blob", Op: "SetBlobServiceProperties"}, false, func(tx *blobTx) error {
		account.SetProperties(&tx.account.Properties, *p)
		tx.change(setAccount{tx.account, true})
		return nil
	})
}

// container is a handle on one container. It serves the calls of
// blob.Container.
type container struct {
	s     *Service
	epoch *epoch.Epoch // the epoch of the handle's holder; nil: it does not end
	name  string
}

func (c *container) Name() string { return c.name }

func (c *container) Blob(name string) blobapi.Blob {
	return &blob{s: c.s, epoch: c.epoch, key: blobKey{Container: c.name, Name: strings.ReplaceAll(name, `\`, "/")}}
}

func (c *container) operate(ctx context.Context, op string, f func(tx *blobTx) error) error {
	if c.name == "" {
		return blobapi.ValidateContainerName("")
	}
	return c.epoch.During(func() error {
		return c.s.operate(ctx, account.FaultPoint{Op: op, Container: c.name}, op == "Create", f)
	})
}

func (c *container) Create(ctx context.Context, opts *blobapi.CreateContainerOptions) (*blobapi.Written, error) {
	if opts == nil {
		opts = &blobapi.CreateContainerOptions{}
	}
	if err := checkMetadata(opts.Metadata); err != nil {
		return nil, err
	}
	if err := checkPublicAccess(opts.PublicAccess); err != nil {
		return nil, err
	}
	w, err := c.write(ctx, "Create", func(tx *blobTx) (containerRecord, error) {
		if tx.container != nil {
			return containerRecord{}, blobError(storage.CodeContainerAlreadyExists, "container %q exists already", c.name)
		}
		return containerRecord{Name: c.name, Metadata: maps.Clone(opts.Metadata), Public: opts.PublicAccess}, nil
	})
	if err == nil {
		c.s.tellMade()
	}
	return w, err
}

// write puts the record that f returns, with a new version.
func (c *container) write(ctx context.Context, op string, f func(tx *blobTx) (containerRecord, error)) (*blobapi.Written, error) {
	var out blobapi.Written
	err := c.operate(ctx, op, func(tx *blobTx) error {
		record, err := f(tx)
		if err != nil {
			return err
		}
		record.Version = tx.newVersion()
		record.Lease = record.Lease.written(tx.now, false)
		tx.change(putContainer{record})
		out = blobapi.Written{ETag: record.Version.ETag, LastModified: record.Version.Modified}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// current returns the record for a write with conditions.
func (c *container) current(tx *blobTx, cond *blobapi.Conditions) (containerRecord, error) {
	r := *tx.container.record
	if err := checkWrite(cond, &r.Version, storage.CodeConditionNotMet); err != nil {
		return r, err
	}
	return r, r.Lease.allows(tx.now, leaseID(cond), containerLeaseCodes())
}

// read runs f on the record for a read with conditions.
func (c *container) read(ctx context.Context, op string, cond *blobapi.Conditions, f func(tx *blobTx, r *containerRecord)) error {
	return c.operate(ctx, op, func(tx *blobTx) error {
		r := tx.container.record
		if err := checkRead(cond, r.Version); err != nil {
			return err
		}
		if err := r.Lease.allows(tx.now, leaseID(cond), containerLeaseCodes()); err != nil {
			return err
		}
		f(tx, r)
		return nil
	})
}

func (c *container) Properties(ctx context.Context, cond *blobapi.Conditions) (*blobapi.ContainerProperties, error) {
	var p blobapi.ContainerProperties
	err := c.read(ctx, "Properties", cond, func(tx *blobTx, r *containerRecord) { p = r.properties(tx.now) })
	if err != nil {
		return nil, err
	}
	return &p, nil
}

func (c *container) SetMetadata(ctx context.Context, metadata map[string]string, cond *blobapi.Conditions) (*blobapi.Written, error) {
	if err := checkMetadata(metadata); err != nil {
		return nil, err
	}
	return c.write(ctx, "SetMetadata", func(tx *blobTx) (containerRecord, error) {
		r, err := c.current(tx, cond)
		r.Metadata = maps.Clone(metadata)
		return r, err
	})
}

func (c *container) Access(ctx context.Context, cond *blobapi.Conditions) (*blobapi.ContainerAccess, error) {
	var a blobapi.ContainerAccess
	err := c.read(ctx, "Access", cond, func(_ *blobTx, r *containerRecord) {
		a = blobapi.ContainerAccess{PublicAccess: r.Public, Policies: slices.Clone(r.Policies),
			ETag: r.Version.ETag, LastModified: r.Version.Modified}
	})
	if err != nil {
		return nil, err
	}
	return &a, nil
}

func (c *container) SetAccess(ctx context.Context, a *blobapi.ContainerAccess, cond *blobapi.Conditions) (*blobapi.Written, error) {
	if err := checkPublicAccess(a.PublicAccess); err != nil {
		return nil, err
	}
	if err := checkPolicies(a.Policies); err != nil {
		return nil, err
	}
	return c.write(ctx, "SetAccess", func(tx *blobTx) (containerRecord, error) {
		r, err := c.current(tx, cond)
		r.Public, r.Policies = a.PublicAccess, slices.Clone(a.Policies)
		return r, err
	})
}

func (c *container) Delete(ctx context.Context, cond *blobapi.Conditions) error {
	return c.operate(ctx, "Delete", func(tx *blobTx) error {
		r, err := c.current(tx, cond)
		if err != nil {
			return err
		}
		if err := r.Lease.guards(tx.now, leaseID(cond), containerLeaseCodes()); err != nil {
			return err
		}
		tx.change(dropContainer{Name: c.name})
		return nil
	})
}

func checkPublicAccess(a blobapi.PublicAccess) error {
	switch a {
	case blobapi.NoPublicAccess, blobapi.PublicBlobs, blobapi.PublicContainer:
		return nil
	}
	return blobError(storage.CodeInvalidHeaderValue, "public access %q: want blob, container or nothing", a)
}

func checkPolicies(policies []storage.AccessPolicy) error {
	if len(policies) > storage.MaxAccessPolicies {
		return blobError(storage.CodeInvalidXMLDocument, "%d stored access policies: want at most %d", len(policies), storage.MaxAccessPolicies)
	}
	const longest = 64
	seen := map[string]bool{}
	for _, p := range policies {
		if p.ID == "" || len(p.ID) > longest || seen[p.ID] {
			return blobError(storage.CodeInvalidXMLDocument, "stored access policy %q: the identifier must be unique and have 1 to %d characters", p.ID, longest)
		}
		seen[p.ID] = true
	}
	return nil
}

// pageSize returns how many items a page of a listing has.
func pageSize(maxResults int) (int, error) {
	switch {
	case maxResults < 0:
		return 0, blobError(storage.CodeOutOfRangeQueryParameterValue, "maxresults %d: want 1 or more", maxResults)
	case maxResults == 0 || maxResults > blobapi.MaxListResults:
		return blobapi.MaxListResults, nil
	}
	return maxResults, nil
}

// marker names the first item of the next page.
func marker(name, snapshot string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(name + "\x00" + snapshot))
}

func parseMarker(s string) (name, snapshot string, err error) {
	if s == "" {
		return "", "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	name, snapshot, ok := strings.Cut(string(b), "\x00")
	if err != nil || !ok {
		return "", "", blobError(storage.CodeInvalidQueryParameterValue, "marker %q: is not one of ours", s)
	}
	return name, snapshot, nil
}

// Lease operations on a container.

func (c *container) lease(ctx context.Context, op string, cond *blobapi.Conditions, f func(tx *blobTx, l lease) (lease, error)) (*blobapi.Lease, error) {
	var out *blobapi.Lease
	err := c.operate(ctx, op, func(tx *blobTx) error {
		r := *tx.container.record
		if err := checkWrite(cond, &r.Version, storage.CodeConditionNotMet); err != nil {
			return err
		}
		l, err := f(tx, r.Lease)
		if err != nil {
			return err
		}
		r.Lease = l
		tx.change(putContainer{r})
		out = &blobapi.Lease{ID: l.ID, ETag: r.Version.ETag, LastModified: r.Version.Modified}
		return nil
	})
	return out, err
}

func (c *container) AcquireLease(ctx context.Context, d time.Duration, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return acquireLease(ctx, c, d, proposed, cond)
}

func (c *container) RenewLease(ctx context.Context, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return renewLease(ctx, c, id, cond)
}

func (c *container) ChangeLease(ctx context.Context, id, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return changeLease(ctx, c, id, proposed, cond)
}

func (c *container) ReleaseLease(ctx context.Context, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return releaseLease(ctx, c, id, cond)
}

func (c *container) BreakLease(ctx context.Context, period *time.Duration, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return breakLease(ctx, c, period, cond)
}

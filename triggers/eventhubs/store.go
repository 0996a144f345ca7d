package eventhubs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Container is where the platform keeps checkpoints, in the host's account.
const Container = "azure-webjobs-eventhub"

// Names of metadata.
const (
	sequenceKey = "sequencenumber"
	offsetKey   = "offset"
	clientKey   = "clientidentifier"
	ownerKey    = "ownerid"
)

// Store keeps the checkpoints of one hub and consumer group, and the owners of its
// partitions: blobs without content, whose metadata count (spec messaging 6.3).
// Other consumers with the same container, of any language, share them.
type Store struct {
	in     blobapi.Container
	prefix string // "fqns/hub/group/"
}

// NewStore returns the store in a container. It does no I/O.
func NewStore(in blobapi.Container, fullyQualifiedNamespace, hub, group string) *Store {
	return &Store{in: in, prefix: strings.ToLower(fullyQualifiedNamespace+"/"+hub+"/"+group) + "/"}
}

// Checkpoint is a position in a partition.
type Checkpoint struct {
	SequenceNumber int64  // of the last event before it; -1: not known
	Offset         string // may be empty
	Written        time.Time
}

// position is where a reader goes on.
func (c *Checkpoint) position() eventhubs.Position {
	if c.SequenceNumber >= 0 {
		return eventhubs.Position{SequenceNumber: &c.SequenceNumber}
	}
	return eventhubs.Position{Offset: c.Offset}
}

// Checkpoint returns the checkpoint of a partition, or nil without one that
// has a position. A partition that only an old version of the extension has
// read has its checkpoint in a blob of another name, with content.
func (s *Store) Checkpoint(ctx context.Context, partition string) (*Checkpoint, error) {
	p, err := s.in.Blob(s.prefix+"checkpoint/"+partition).Properties(ctx, nil)
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		return s.legacy(ctx, partition)
	case err != nil:
		return nil, fmt.Errorf("read the checkpoint of partition %q: %w", partition, err)
	}
	return newCheckpoint(metadatum(p.Metadata, sequenceKey), metadatum(p.Metadata, offsetKey), p.LastModified), nil
}

func newCheckpoint(sequence, offset string, written time.Time) *Checkpoint {
	c := &Checkpoint{SequenceNumber: -1, Offset: offset, Written: written}
	if n, err := strconv.ParseInt(sequence, 10, 64); err == nil && n >= 0 {
		c.SequenceNumber = n
	}
	if c.SequenceNumber < 0 && offset == "" {
		return nil // foreign, or damaged: as if there were none
	}
	return c
}

// String says where a checkpoint is.
func (c *Checkpoint) String() string {
	if c.SequenceNumber >= 0 {
		return fmt.Sprintf("sequence number %d", c.SequenceNumber)
	}
	return fmt.Sprintf("offset %q", c.Offset)
}

// maxLegacy bounds what is read of an old checkpoint.
const maxLegacy = 64 << 10

func (s *Store) legacy(ctx context.Context, partition string) (*Checkpoint, error) {
	d, err := s.in.Blob(s.prefix+partition).Get(ctx, nil)
	if errors.Is(err, bindings.ErrNotFound) {
		return nil, nil
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(d.Body, maxLegacy))
		err = errors.Join(err, d.Body.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("read the old checkpoint of partition %q: %w", partition, err)
	}
	var old struct {
		Offset         string
		SequenceNumber int64
	}
	if json.Unmarshal(text, &old) != nil || old.Offset == "" {
		return nil, nil
	}
	return newCheckpoint(strconv.FormatInt(old.SequenceNumber, 10), old.Offset, d.Properties.LastModified), nil
}

// Write writes a checkpoint behind an event.
func (s *Store) Write(ctx context.Context, partition, client string, e *eventhubs.ReceivedEvent) error {
	metadata := map[string]string{sequenceKey: strconv.FormatInt(e.SequenceNumber, 10), offsetKey: e.Offset, clientKey: client}
	blob := s.in.Blob(s.prefix + "checkpoint/" + partition)
	_, err := blob.SetMetadata(ctx, metadata, nil)
	if errors.Is(err, storage.ErrContainerNotFound) {
		err = s.Prepare(ctx)
		if err == nil {
			err = bindings.ErrNotFound
		}
	}
	if errors.Is(err, bindings.ErrNotFound) {
		_, err = blob.Put(ctx, strings.NewReader(""), &blobapi.PutOptions{Metadata: metadata})
	}
	if err != nil {
		return fmt.Errorf("write the checkpoint of partition %q: %w", partition, err)
	}
	return nil
}

// Prepare makes the container if it is not there.
func (s *Store) Prepare(ctx context.Context) error {
	if _, err := s.in.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return fmt.Errorf("create the container %q: %w", s.in.Name(), err)
	}
	return nil
}

// Ownership names the owner of a partition.
type Ownership struct {
	Partition string
	Owner     string // empty: it was given back
	ETag      string // empty: it never had one
	Since     time.Time
}

// Ownerships lists the owners of partitions. Partitions that never had an owner
// are not in it.
func (s *Store) Ownerships(ctx context.Context) ([]Ownership, error) {
	var out []Ownership
	opts := &blobapi.ListOptions{Prefix: s.prefix + "ownership/", Include: blobapi.ListInclude{Metadata: true}}
	for {
		page, err := s.in.Blobs(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("list who has which partition: %w", err)
		}
		for _, item := range page.Blobs {
			out = append(out, Ownership{
				Partition: strings.TrimPrefix(item.Name, opts.Prefix),
				Owner:     metadatum(item.Properties.Metadata, ownerKey),
				ETag:      item.Properties.ETag,
				Since:     item.Properties.LastModified,
			})
		}
		if opts.Marker = page.NextMarker; opts.Marker == "" {
			return out, nil
		}
	}
}

// Owner returns the owner of a partition; empty when it was given back.
func (s *Store) Owner(ctx context.Context, partition string) (string, error) {
	p, err := s.in.Blob(s.prefix+"ownership/"+partition).Properties(ctx, nil)
	if err != nil {
		return "", fmt.Errorf("read who has partition %q: %w", partition, err)
	}
	return metadatum(p.Metadata, ownerKey), nil
}

// Claim makes owner the owner of a partition. It fails with
// bindings.ErrConditionNotMet when the ownership changed since o was read. An empty
// owner gives it back.
func (s *Store) Claim(ctx context.Context, o Ownership, owner string) (Ownership, error) {
	blob := s.in.Blob(s.prefix + "ownership/" + o.Partition)
	metadata := map[string]string{ownerKey: owner}
	var w *blobapi.Written
	var err error
	if o.ETag == "" {
		w, err = blob.Put(ctx, strings.NewReader(""), &blobapi.PutOptions{Metadata: metadata, Conditions: &blobapi.Conditions{IfNoneMatch: "*"}})
	} else {
		w, err = blob.SetMetadata(ctx, metadata, &blobapi.Conditions{IfMatch: o.ETag})
	}
	switch {
	case errors.Is(err, bindings.ErrAlreadyExists), errors.Is(err, bindings.ErrNotFound):
		err = fmt.Errorf("%w: %w", bindings.ErrConditionNotMet, err)
		fallthrough
	case err != nil:
		return o, fmt.Errorf("claim partition %q: %w", o.Partition, err)
	}
	o.Owner, o.ETag, o.Since = owner, w.ETag, w.LastModified
	return o, nil
}

// metadatum looks a name up without regard to case.
func metadatum(m map[string]string, name string) string {
	for k, v := range m {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

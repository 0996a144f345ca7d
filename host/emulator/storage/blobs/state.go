package blobs

import (
	"maps"
	"slices"
	"strings"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/ordered"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Everything that a blob account knows is in the records below: plain values
// that never change once they are in the state. An operation reads the state,
// works out a list of changes and applies them all or none. So a durable store
// has to see the changes only, and records can be handed out and kept.

// accountRecord holds the counters of an account and its settings.
type accountRecord struct {
	LastETag   uint64
	IDs        uint64 // identifiers given out
	LastBody   uint64 // content records made
	Properties storage.ServiceProperties
}

// containerRecord is a container.
type containerRecord struct {
	Name     string
	Version  version
	Metadata map[string]string
	Public   blobapi.PublicAccess
	Policies []storage.AccessPolicy
	Lease    lease
}

// blobKey names a blob, or a snapshot of one.
type blobKey struct{ Container, Name, Snapshot string }

// blobRecord is a blob or a snapshot of one. Several records may share a
// content, each seeing the first Blocks segments of it.
type blobRecord struct {
	blobKey
	Type     blobapi.Type
	Created  time.Time
	Version  version
	Headers  blobapi.Headers
	Metadata map[string]string
	Lease    lease
	Copy     *blobapi.CopyState
	Tier     string // "": not set
	TierSet  time.Time
	Thaw     rehydration
	Tags     map[string]string
	Sealed   bool  // an append blob to which nothing is added any more
	Sequence int64 // the number of a page blob that its writers agree on

	Content uint64 // 0: empty
	Blocks  int
	Size    int64
}

// segment is a body in a content. Block is empty if the body came in a Put.
type segment struct {
	Body  bodyID
	Size  int64
	Block string

	// Of pages: their offset in the blob, and the number of bytes that the body
	// leaves out before them. Between segments a page blob has zeros.
	At   int64 `json:",omitempty"`
	Skip int64 `json:",omitempty"`
}

// contentRecord is a sequence of segments. It grows, in an append blob, or its pages are
// replaced, while one page blob has it and nobody reads it.
type contentRecord struct {
	ID       uint64
	Segments []segment
}

// blockRecord is a block that waits for a block list.
type blockRecord struct {
	blobKey
	segment
}

// blobState holds everything under one name.
type blobState struct {
	base      *blobRecord   // nil: only blocks wait
	snapshots []*blobRecord // oldest first
	blocks    map[string]*blockRecord
}

// containerState is a container with its blobs.
type containerState struct {
	record *containerRecord
	blobs  map[string]*blobState
	names  ordered.Set[string] // the keys of blobs
}

// blobChange is one step of an operation. Changes are plain data.
type blobChange interface {
	apply(s *Service)
	// save adds to w what makes the change, once it has been applied.
	save(s *Service, w *keep.Change)
}

type (
	// setAccount sets the counters, and the properties if Settings says so.
	setAccount struct {
		accountRecord
		Settings bool
	}
	putContainer  struct{ containerRecord }
	dropContainer struct{ Name string }
	// putBlob needs the content that the record names to exist, and its container.
	putBlob  struct{ blobRecord }
	dropBlob struct{ blobKey }
	putBlock struct{ blockRecord }
	// dropBlocks drops all waiting blocks of a blob.
	dropBlocks struct{ blobKey }
	// putContent adds a content without a reference yet. It goes by itself when
	// the last record that refers to it goes.
	putContent struct{ contentRecord }
	// appendSegment lengthens a content.
	appendSegment struct {
		Content uint64
		Segment segment
	}
	// patchPages replaces a range of a content of pages, which only one record has.
	patchPages struct {
		Content uint64
		Span    blobapi.Range
		Put     []segment
	}
	// pageRun is pages of a content, behind its others.
	pageRun struct {
		Content uint64
		Pages   []segment
	}
)

// apply is the only place where state changes.
func (s *Service) apply(changes []blobChange) {
	for _, c := range changes {
		c.apply(s)
		if s.writing != nil {
			c.save(s, s.writing)
		}
	}
}

func (c setAccount) apply(s *Service) { s.account = c.accountRecord } // Properties never change without Settings

func (c putContainer) apply(s *Service) {
	state := s.containers[c.Name]
	if state == nil {
		state = &containerState{blobs: map[string]*blobState{}, names: ordered.New(strings.Compare)}
		s.containers[c.Name] = state
		s.names.Insert(c.Name)
	}
	state.record = &c.containerRecord
}

func (c dropContainer) apply(s *Service) {
	for name, b := range s.containers[c.Name].blobs {
		for _, r := range b.snapshots {
			s.releaseContent(r.Content)
		}
		if b.base != nil {
			s.tags.remove(c.Name, name, b.base.Tags)
			s.releaseContent(b.base.Content)
		}
		for _, r := range b.blocks {
			s.releaseBody(r.Body)
		}
	}
	delete(s.containers, c.Name)
	s.names.Remove(c.Name)
}

func (c putBlob) apply(s *Service) {
	state := s.containers[c.Container].named(c.Name)
	s.retainContent(c.Content)
	record := &c.blobRecord
	if c.Snapshot != "" {
		i, found := state.findSnapshot(c.Snapshot)
		if found {
			s.releaseContent(state.snapshots[i].Content)
			state.snapshots[i] = record
			return
		}
		state.snapshots = slices.Insert(state.snapshots, i, record)
		return
	}
	if state.base != nil {
		s.tags.remove(c.Container, c.Name, state.base.Tags)
		s.releaseContent(state.base.Content)
	}
	s.tags.insert(c.Container, c.Name, record.Tags)
	state.base = record
}

func (c dropBlob) apply(s *Service) {
	container := s.containers[c.Container]
	state := container.blobs[c.Name]
	if c.Snapshot == "" {
		s.tags.remove(c.Container, c.Name, state.base.Tags)
		s.releaseContent(state.base.Content)
		state.base = nil
	} else if i, found := state.findSnapshot(c.Snapshot); found {
		s.releaseContent(state.snapshots[i].Content)
		state.snapshots = slices.Delete(state.snapshots, i, i+1)
	}
	container.tidy(c.Name)
}

func (c putBlock) apply(s *Service) {
	state := s.containers[c.Container].named(c.Name)
	if state.blocks == nil {
		state.blocks = map[string]*blockRecord{}
	}
	s.retainBody(c.Body)
	if old := state.blocks[c.Block]; old != nil {
		s.releaseBody(old.Body)
	}
	state.blocks[c.Block] = &c.blockRecord
}

func (c dropBlocks) apply(s *Service) {
	container := s.containers[c.Container]
	state := container.blobs[c.Name]
	if state == nil {
		return
	}
	for _, r := range state.blocks {
		s.releaseBody(r.Body)
	}
	state.blocks = nil
	container.tidy(c.Name)
}

func (c putContent) apply(s *Service) {
	s.contents[c.ID] = &content{contentRecord: c.contentRecord}
	for _, seg := range c.Segments {
		s.retainBody(seg.Body)
	}
}

func (c appendSegment) apply(s *Service) {
	to := s.contents[c.Content]
	to.Segments = append(to.Segments, c.Segment)
	to.appended = true
	s.retainBody(c.Segment.Body)
}

func (c pageRun) apply(s *Service) {
	s.contents[c.Content].addRun(c.Pages)
	for _, seg := range c.Pages {
		s.retainBody(seg.Body)
	}
}

func (c patchPages) apply(s *Service) {
	to := s.contents[c.Content]
	old, instead := to.patch(c.Span, c.Put)
	for _, seg := range instead {
		s.retainBody(seg.Body)
	}
	for _, seg := range old {
		s.releaseBody(seg.Body)
	}
}

func (s *Service) retainContent(id uint64) {
	if id != 0 {
		s.contents[id].refs++
	}
}

func (s *Service) releaseContent(id uint64) {
	if id == 0 {
		return
	}
	c := s.contents[id]
	if c.refs--; c.refs > 0 {
		return
	}
	delete(s.contents, id)
	if s.writing != nil {
		dropContent(s.writing, c)
	}
	for _, seg := range c.list() {
		s.releaseBody(seg.Body)
	}
}

func (s *Service) retainBody(id bodyID) {
	if s.bodyRefs[id]++; s.bodyRefs[id] == 1 {
		s.bodies.keep(id, s.writing)
	}
}

func (s *Service) releaseBody(id bodyID) {
	if s.bodyRefs[id]--; s.bodyRefs[id] > 0 {
		return
	}
	delete(s.bodyRefs, id)
	s.bodies.remove(id, s.writing)
}

// named returns what there is under a name, making room for it.
func (c *containerState) named(name string) *blobState {
	state := c.blobs[name]
	if state == nil {
		state = &blobState{}
		c.blobs[name] = state
		c.names.Insert(name)
	}
	return state
}

// tidy forgets a name under which nothing is left.
func (c *containerState) tidy(name string) {
	if state := c.blobs[name]; state.base == nil && len(state.snapshots) == 0 && len(state.blocks) == 0 {
		delete(c.blobs, name)
		c.names.Remove(name)
	}
}

func (b *blobState) findSnapshot(snapshot string) (int, bool) {
	return slices.BinarySearchFunc(b.snapshots, snapshot, func(r *blobRecord, snapshot string) int {
		switch {
		case r.Snapshot < snapshot:
			return -1
		case r.Snapshot > snapshot:
			return 1
		}
		return 0
	})
}

func (r *blobRecord) properties(now time.Time) *blobapi.Properties {
	p := &blobapi.Properties{
		Type: r.Type, Created: r.Created, LastModified: r.Version.Modified, ETag: r.Version.ETag,
		ContentLength: r.Size, Headers: r.Headers, Metadata: maps.Clone(r.Metadata),
	}
	p.Headers.ContentMD5 = slices.Clone(r.Headers.ContentMD5)
	p.Tags, p.TagCount = maps.Clone(r.Tags), len(r.Tags)
	if r.Copy != nil {
		c := *r.Copy
		p.Copy = &c
	}
	if r.Snapshot == "" {
		p.Lease = r.Lease.properties(now)
	}
	switch r.Type {
	case blobapi.AppendBlob:
		p.AppendBlocks, p.Sealed = r.Blocks, r.Sealed
	case blobapi.PageBlob:
		p.Sequence = r.Sequence
	case blobapi.BlockBlob:
		r.tierProperties(now, p)
	}
	return p
}

func (r *containerRecord) properties(now time.Time) blobapi.ContainerProperties {
	return blobapi.ContainerProperties{
		ETag: r.Version.ETag, LastModified: r.Version.Modified, Metadata: maps.Clone(r.Metadata),
		Lease: r.Lease.properties(now), PublicAccess: r.Public,
	}
}

package blobs

import (
	"encoding/binary"
	"errors"
	"slices"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// blobsState is the changes that make blobs out of an empty state, and the largest
// number of a small body.
type blobsState struct {
	changes  []blobChange
	lastBody uint64
}

// takeLocked replaces the blobs in memory by the blobs of the store. No
// identifier is given twice, so that a lease of before fits nothing of now.
func (s *Service) takeLocked(fresh blobsState, from keep.Origin) {
	before := s.account
	s.clear()
	s.apply(fresh.changes) // with nothing to write
	s.seed = seeded.Epoch(s.opts.Seed, from.Epoch)
	s.account.IDs = max(s.account.IDs, before.IDs)
	s.account.LastETag = max(s.account.LastETag, before.LastETag)
	s.bodies.(*storeBodies).numbered(fresh.lastBody)
	s.sweepLocked()
}

// sweepLocked removes contents without a blob: the blob was deleted while the
// content was still read.
func (s *Service) sweepLocked() {
	c := s.kept.Change()
	s.writing = &c
	for id, c := range s.contents {
		if c.refs == 0 {
			c.refs = 1
			s.releaseContent(id)
		}
	}
	s.kept.Tidy(s.writing)
	s.writing = nil
}

// readBlobs reads everything about blobs but their bodies.
func readBlobs(v store.Reader, dir string) (out blobsState, err error) {
	r := blobReader{account.Records{Reader: v, Dir: dir}}
	account, err := r.account()
	if err != nil {
		return out, err
	}
	changes := []blobChange{setAccount{account, true}}
	err = errors.Join(
		r.Each(containerKind, func(key, value []byte) error {
			var c containerRecord
			err := r.Decode(key, value, &c)
			changes = append(changes, putContainer{c})
			return err
		}),
		r.Each(contentKind, func(key, value []byte) error {
			change, err := r.content(key, value)
			changes = append(changes, change)
			return err
		}),
		r.Each(blobKind, func(key, value []byte) error {
			var b blobRecord
			if !b.parse(value) {
				return r.Unreadable(key)
			}
			changes = append(changes, putBlob{b})
			return nil
		}),
		r.Each(blockKind, func(key, value []byte) error {
			var b blockRecord
			err := r.Decode(key, value, &b)
			changes = append(changes, putBlock{b})
			return err
		}),
	)
	if err == nil {
		err = r.check(changes)
	}
	if err == nil {
		out.lastBody, err = r.lastBody(changes)
	}
	out.changes = changes
	return out, err
}

// lastBody returns the largest number of a small body.
func (r blobReader) lastBody(changes []blobChange) (last uint64, err error) {
	err = eachSegment(changes, func(seg *segment) error {
		n, file, ok := seg.Body.parse()
		if !ok {
			return r.Damage("body %q is of no known form", seg.Body)
		}
		if !file {
			last = max(last, n)
		}
		return nil
	})
	return last, err
}

// account reads the counters and the properties.
func (r blobReader) account() (a accountRecord, err error) {
	value, err := r.Get(blobAccountKey)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return a, nil
	case err == nil && !a.parse(value):
		err = r.Unreadable(blobAccountKey)
	}
	if err != nil {
		return a, err
	}
	return a, r.JSON(blobPropertiesKey, &a.Properties)
}

// blobReader reads the records of blobs.
type blobReader struct{ account.Records }

// content reads a content, or what belongs to the previous one: a segment that was
// appended, or a run of its pages.
func (r blobReader) content(key, value []byte) (blobChange, error) {
	segments, ok := parseSegments(value)
	switch {
	case ok && len(key) == 10:
		return putContent{contentRecord{ID: binary.BigEndian.Uint64(key[2:]), Segments: segments}}, nil
	case ok && len(key) == 14 && len(segments) == 1:
		return appendSegment{Content: binary.BigEndian.Uint64(key[2:]), Segment: segments[0]}, nil
	case ok && len(key) == 18 && len(segments) > 0:
		return pageRun{binary.BigEndian.Uint64(key[2:]), segments}, nil
	}
	return nil, r.Unreadable(key)
}

// check finds records that name missing ones.
func (r blobReader) check(changes []blobChange) error {
	containers, contents := map[string]bool{}, map[uint64]*content{0: {}}
	checked := map[blobShape]bool{} // snapshots and copies share contents
	for _, c := range changes {
		switch c := c.(type) {
		case putContainer:
			containers[c.Name] = true
		case putContent:
			contents[c.ID] = &content{contentRecord: contentRecord{Segments: slices.Clip(c.Segments)}}
		case appendSegment:
			of := contents[c.Content]
			if of == nil || of.pages != nil {
				return r.Damage("a segment of content %d has lost it", c.Content)
			}
			of.Segments = append(of.Segments, c.Segment)
		case pageRun:
			of := contents[c.Content]
			if of == nil {
				return r.Damage("pages of content %d have lost it", c.Content)
			}
			of.addRun(c.Pages)
		case putBlob:
			of := contents[c.Content]
			if !containers[c.Container] || of == nil {
				return r.Damage("blob %q has lost its container or content", c.Container+"/"+c.Name)
			}
			shape := blobShape{c.Content, c.Blocks, c.Size, c.Type}
			if checked[shape] {
				continue
			}
			checked[shape] = true
			segments := of.list()
			if c.Content != 0 && len(segments) < c.Blocks {
				return r.Damage("blob %q has lost its container or content", c.Container+"/"+c.Name)
			}
			if c.Blocks < 0 || !c.isMadeOf(segments[:min(len(segments), c.Blocks)]) {
				return r.Damage("blob %q has %d bytes, and its content others", c.Container+"/"+c.Name, c.Size)
			}
		case putBlock:
			if !containers[c.Container] {
				return r.Damage("a block of blob %q has lost its container", c.Container+"/"+c.Name)
			}
		}
	}
	return nil
}

// blobShape is what a blob says of its content.
type blobShape struct {
	content uint64
	blocks  int
	size    int64
	kind    blobapi.Type
}

// isMadeOf reports whether segments are the bytes of a blob: all of them, or of a page
// blob some, in order and apart.
func (r *blobRecord) isMadeOf(segments []segment) bool {
	end := int64(0)
	for _, s := range segments {
		at := end
		if r.Type == blobapi.PageBlob {
			at = s.At
		}
		if at < end || at > r.Size || s.Size > r.Size-at { // a sum could be more than a number holds
			return false
		}
		end = at + s.Size
	}
	return r.Size >= 0 && (r.Type == blobapi.PageBlob || end == r.Size)
}

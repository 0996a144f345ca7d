package emulator

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/bindings"
)

// Records that every write of a blob writes are kept in a form that costs little:
// the fields in order, after recordFormat. Numbers, strings and times are as in
// record.go; what may be nil begins with its length and one, and 0 is nil.
const recordFormat = 2

// append adds the counters; properties are kept apart.
func (a *accountRecord) append(b []byte) []byte {
	b = append(b, recordFormat)
	for _, n := range []uint64{a.LastETag, a.IDs, a.LastBody} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func (a *accountRecord) parse(b []byte) bool {
	r := valueReader{b: b}
	ok := r.byte() == recordFormat
	a.LastETag, a.IDs, a.LastBody = r.uvarint(), r.uvarint(), r.uvarint()
	return ok && r.done()
}

func (c *blobRecord) append(b []byte) []byte {
	b = append(b, recordFormat)
	for _, s := range []string{c.Container, c.Name, c.Snapshot, string(c.Type), c.Version.ETag} {
		b = appendString(b, s)
	}
	b = appendTime(appendTime(b, c.Version.Modified), c.Created)
	h := &c.Headers
	for _, s := range []string{h.ContentType, h.ContentEncoding, h.ContentLanguage, h.ContentDisposition, h.CacheControl} {
		b = appendString(b, s)
	}
	b = appendBytes(b, h.ContentMD5)
	b = appendMap(b, c.Metadata)
	b = c.Lease.append(b)
	b = appendCopy(b, c.Copy)
	b = appendString(b, c.Tier)
	b = binary.AppendUvarint(b, c.Content)
	b = binary.AppendVarint(b, int64(c.Blocks))
	return binary.AppendVarint(b, c.Size)
}

func (c *blobRecord) parse(b []byte) bool {
	r := valueReader{b: b}
	ok := r.byte() == recordFormat
	c.Container, c.Name, c.Snapshot = r.string(), r.string(), r.string()
	c.Type, c.Version.ETag = bindings.BlobType(r.string()), r.string()
	c.Version.Modified, c.Created = r.time(), r.time()
	h := &c.Headers
	h.ContentType, h.ContentEncoding, h.ContentLanguage = r.string(), r.string(), r.string()
	h.ContentDisposition, h.CacheControl = r.string(), r.string()
	h.ContentMD5 = r.bytes()
	c.Metadata = r.stringMap()
	c.Lease.parse(&r)
	c.Copy = r.copyState()
	c.Tier, c.Content = r.string(), r.uvarint()
	c.Blocks, c.Size = int(r.varint()), r.varint()
	return ok && r.done()
}

func appendSegments(b []byte, segments []segment) []byte {
	b = binary.AppendUvarint(append(b, recordFormat), uint64(len(segments)))
	for i := range segments {
		s := &segments[i]
		b = appendString(b, string(s.Body))
		b = binary.AppendVarint(b, s.Size)
		b = appendString(b, s.Block)
	}
	return b
}

func parseSegments(b []byte) (segments []segment, ok bool) {
	r := valueReader{b: b}
	ok = r.byte() == recordFormat
	n := r.uvarint()
	for range n {
		segments = append(segments, segment{Body: bodyID(r.string()), Size: r.varint(), Block: r.string()})
		if r.bad {
			break
		}
	}
	return segments, ok && r.done()
}

func (l *lease) append(b []byte) []byte {
	b = binary.AppendVarint(appendString(b, l.ID), int64(l.Duration))
	b = appendTime(appendTime(b, l.Until), l.Breaks)
	return appendBool(b, l.Stale)
}

func (l *lease) parse(r *valueReader) {
	l.ID, l.Duration = r.string(), r.duration()
	l.Until, l.Breaks = r.time(), r.time()
	l.Stale = r.byte() == 1
}

func appendCopy(b []byte, c *bindings.CopyState) []byte {
	if c == nil {
		return appendBool(b, false)
	}
	b = appendBool(b, true)
	for _, s := range []string{c.ID, c.Source, c.Status} {
		b = appendString(b, s)
	}
	return binary.AppendVarint(appendTime(b, c.Completed), c.Bytes)
}

func (r *valueReader) copyState() *bindings.CopyState {
	if r.byte() == 0 {
		return nil
	}
	return &bindings.CopyState{ID: r.string(), Source: r.string(), Status: r.string(), Completed: r.time(), Bytes: r.varint()}
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendBytes(b, v []byte) []byte {
	if v == nil {
		return append(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(v))+1), v...)
}

func (r *valueReader) bytes() []byte {
	n := r.uvarint()
	if n == 0 {
		return nil
	}
	return slices.Clone(r.take(int(min(n-1, 1<<30))))
}

func appendMap(b []byte, m map[string]string) []byte {
	if m == nil {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(m))+1)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = appendString(appendString(b, k), m[k])
	}
	return b
}

func (r *valueReader) stringMap() map[string]string {
	n := r.uvarint()
	if n == 0 {
		return nil
	}
	m := map[string]string{}
	for range n - 1 {
		k := r.string()
		m[k] = r.string()
		if r.bad {
			break
		}
	}
	return m
}

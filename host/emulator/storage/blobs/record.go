package blobs

import (
	"encoding/binary"
	"maps"
	"slices"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator/store/fields"
)

// Records that every write of a blob writes are kept in a form that costs little:
// the fields in order, after recordFormat. Numbers, strings and times are as in
// record.go; what may be nil begins with its length and one, and 0 is nil.
const recordFormat = 2

// widerFormat is the format of a record with fields behind the fields of
// recordFormat, which few need.
const widerFormat = 3

// tierFormat is widerFormat with what there is to say of a tier that was set.
const tierFormat = 4

// append adds the counters; properties are kept apart.
func (a *accountRecord) append(b []byte) []byte {
	b = append(b, recordFormat)
	for _, n := range []uint64{a.LastETag, a.IDs, a.LastBody} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func (a *accountRecord) parse(b []byte) bool {
	r := valueReader{fields.NewReader(b)}
	ok := r.Byte() == recordFormat
	a.LastETag, a.IDs, a.LastBody = r.Uvarint(), r.Uvarint(), r.Uvarint()
	return ok && r.Done()
}

func (c *blobRecord) append(b []byte) []byte {
	tiered := !c.TierSet.IsZero() || c.Thaw != rehydration{}
	wider := tiered || c.Tags != nil || c.Sealed || c.Sequence != 0
	if tiered {
		b = append(b, tierFormat)
	} else {
		b = append(b, formatByte(wider))
	}
	for _, s := range []string{c.Container, c.Name, c.Snapshot, string(c.Type), c.Version.ETag} {
		b = fields.AppendString(b, s)
	}
	b = fields.AppendTime(fields.AppendTime(b, c.Version.Modified), c.Created)
	h := &c.Headers
	for _, s := range []string{h.ContentType, h.ContentEncoding, h.ContentLanguage, h.ContentDisposition, h.CacheControl} {
		b = fields.AppendString(b, s)
	}
	b = appendHash(b, h.ContentMD5)
	b = appendMap(b, c.Metadata)
	b = c.Lease.append(b)
	b = appendCopy(b, c.Copy)
	b = fields.AppendString(b, c.Tier)
	b = binary.AppendUvarint(b, c.Content)
	b = binary.AppendVarint(b, int64(c.Blocks))
	b = binary.AppendVarint(b, c.Size)
	if !wider {
		return b
	}
	b = fields.AppendBool(appendMap(b, c.Tags), c.Sealed)
	b = binary.AppendVarint(b, c.Sequence)
	if !tiered {
		return b
	}
	b = fields.AppendString(fields.AppendTime(b, c.TierSet), c.Thaw.Tier)
	return fields.AppendTime(fields.AppendString(b, c.Thaw.Priority), c.Thaw.Done)
}

func formatByte(wider bool) byte {
	if wider {
		return widerFormat
	}
	return recordFormat
}

// formatOf reads formatByte.
func (r *valueReader) formatOf() (wider, ok bool) {
	format := r.Byte()
	return format == widerFormat, format == recordFormat || format == widerFormat
}

func (c *blobRecord) parse(b []byte) bool {
	r := valueReader{fields.NewReader(b)}
	format := r.Byte()
	ok := format >= recordFormat && format <= tierFormat
	c.Container, c.Name, c.Snapshot = r.String(), r.String(), r.String()
	c.Type, c.Version.ETag = blobapi.Type(r.String()), r.String()
	c.Version.Modified, c.Created = r.Time(), r.Time()
	h := &c.Headers
	h.ContentType, h.ContentEncoding, h.ContentLanguage = r.String(), r.String(), r.String()
	h.ContentDisposition, h.CacheControl = r.String(), r.String()
	h.ContentMD5 = r.hash()
	c.Metadata = r.stringMap()
	c.Lease.parse(&r)
	c.Copy = r.copyState()
	c.Tier, c.Content = r.String(), r.Uvarint()
	c.Blocks, c.Size = int(r.Varint()), r.Varint()
	if format >= widerFormat {
		c.Tags, c.Sealed, c.Sequence = r.stringMap(), r.Bool(), r.Varint()
	}
	if format == tierFormat {
		c.TierSet, c.Thaw = r.Time(), rehydration{Tier: r.String(), Priority: r.String(), Done: r.Time()}
	}
	return ok && r.Done()
}

func appendSegments(b []byte, segments []segment) []byte {
	wider := slices.ContainsFunc(segments, func(s segment) bool { return s.At != 0 || s.Skip != 0 })
	b = binary.AppendUvarint(append(b, formatByte(wider)), uint64(len(segments)))
	for i := range segments {
		s := &segments[i]
		b = fields.AppendString(b, string(s.Body))
		b = binary.AppendVarint(b, s.Size)
		b = fields.AppendString(b, s.Block)
		if wider {
			b = binary.AppendVarint(binary.AppendVarint(b, s.At), s.Skip)
		}
	}
	return b
}

func parseSegments(b []byte) (segments []segment, ok bool) {
	r := valueReader{fields.NewReader(b)}
	wider, ok := r.formatOf()
	n := r.Uvarint()
	for range n {
		seg := segment{Body: bodyID(r.String()), Size: r.Varint(), Block: r.String()}
		if wider {
			seg.At, seg.Skip = r.Varint(), r.Varint()
		}
		segments = append(segments, seg)
		if ok = ok && min(seg.Size, seg.At, seg.Skip) >= 0; !ok || r.Bad() {
			break
		}
	}
	return segments, ok && r.Done()
}

func (l *lease) append(b []byte) []byte {
	b = binary.AppendVarint(fields.AppendString(b, l.ID), int64(l.Duration))
	b = fields.AppendTime(fields.AppendTime(b, l.Until), l.Breaks)
	return fields.AppendBool(b, l.Stale)
}

func (l *lease) parse(r *valueReader) {
	l.ID, l.Duration = r.String(), r.Duration()
	l.Until, l.Breaks = r.Time(), r.Time()
	l.Stale = r.Bool()
}

func appendCopy(b []byte, c *blobapi.CopyState) []byte {
	if c == nil {
		return fields.AppendBool(b, false)
	}
	b = fields.AppendBool(b, true)
	for _, s := range []string{c.ID, c.Source, c.Status} {
		b = fields.AppendString(b, s)
	}
	return binary.AppendVarint(fields.AppendTime(b, c.Completed), c.Bytes)
}

// valueReader reads what was appended.
type valueReader struct{ fields.Reader }

func (r *valueReader) copyState() *blobapi.CopyState {
	if !r.Bool() {
		return nil
	}
	return &blobapi.CopyState{ID: r.String(), Source: r.String(), Status: r.String(), Completed: r.Time(), Bytes: r.Varint()}
}

// appendHash keeps the difference between none and an empty one.
func appendHash(b, v []byte) []byte {
	if v == nil {
		return append(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(v))+1), v...)
}

func (r *valueReader) hash() []byte {
	n := r.Uvarint()
	if n == 0 {
		return nil
	}
	return slices.Clone(r.Take(int(min(n-1, 1<<30))))
}

func appendMap(b []byte, m map[string]string) []byte {
	if m == nil {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(m))+1)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = fields.AppendString(fields.AppendString(b, k), m[k])
	}
	return b
}

func (r *valueReader) stringMap() map[string]string {
	n := r.Uvarint()
	if n == 0 {
		return nil
	}
	m := map[string]string{}
	for range n - 1 {
		k := r.String()
		m[k] = r.String()
		if r.Bad() {
			break
		}
	}
	return m
}

package store

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The engine's manifest and log are made of chunks in blocks of 32 KiB. A chunk has a
// checksum (4 bytes), the length of its content (2) and a kind (1); in the log also the
// log's number (4) and the synced length of the log when it was written (8). This is
// pebble's variant of RocksDB's format (package record there). The reader of that
// package takes damage for the end of a write that was cut short, unless a later block
// says otherwise: it would pass over some in the last 32 KiB, and in a manifest
// (TestDamageIsNamed).
const (
	chunkBlock   = 32 << 10
	plainHeader  = 7
	numberHeader = plainHeader + 4
	syncHeader   = numberHeader + 8
)

// chunk is the chunk that audit finds at one place.
type chunk struct {
	at, end int64
	sound   bool
	number  uint32
	synced  uint64
}

// audit walks over the chunks of a file and calls f for each, the damaged ones
// included as long as they show where the next one is. It returns the end of the
// last chunk that is sound with all before it. The rest may be a write that a
// sudden end has cut short.
func audit(fs vfs.FS, name string, f func(c chunk)) (soundTo int64, err error) {
	file, err := fs.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	block := make([]byte, chunkBlock)
	whole := true
	for start := int64(0); ; start += chunkBlock {
		n, err := io.ReadFull(file, block)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return 0, err
		}
		for at := 0; at+plainHeader <= n; {
			c, ok := parseChunk(block[:n], at)
			if !ok {
				whole = false
				break // to the next block, where one begins for certain
			}
			end := at + int(c.end)
			c.at, c.end = start+int64(at), start+int64(end)
			if whole = whole && c.sound; whole {
				soundTo = c.end
			}
			f(c)
			at = end
		}
		if n < chunkBlock {
			return soundTo, nil
		}
	}
}

// parseChunk reads the chunk at a place of a block. Its end is counted from
// there.
func parseChunk(block []byte, at int) (c chunk, ok bool) {
	b := block[at:]
	length, kind := int(binary.LittleEndian.Uint16(b[4:])), b[6]
	header := 0
	switch {
	case kind >= 1 && kind <= 4:
		header = plainHeader
	case kind >= 5 && kind <= 8:
		header = numberHeader
	case kind >= 9 && kind <= 12:
		header = syncHeader
	}
	if header == 0 || header+length > len(b) {
		return chunk{}, false
	}
	if header >= numberHeader {
		c.number = binary.LittleEndian.Uint32(b[7:])
	}
	if header >= syncHeader {
		c.synced = binary.LittleEndian.Uint64(b[11:])
	}
	sum := crc32.Checksum(b[6:header+length], castagnoli)
	c.sound = (sum>>15|sum<<17)+0xa282ead8 == binary.LittleEndian.Uint32(b)
	c.end = int64(header + length)
	return c, true
}

// auditLog finds damage in the log with a number: a chunk that is not sound
// although a later one says that it had been synced. Chunks of other numbers are
// leftovers of a former use of the file.
func auditLog(fs vfs.FS, name string, number uint64) error {
	bad := int64(-1)
	var damage error
	_, err := audit(fs, name, func(c chunk) {
		switch {
		case !c.sound && bad < 0:
			bad = c.at
		case c.sound && bad >= 0 && c.number == uint32(number) && c.synced > uint64(bad):
			damage = corrupt(name, "the checksum at byte %d is wrong", bad)
		}
	})
	if err != nil {
		return err
	}
	return damage
}

// auditManifest finds damage in a manifest, which must be sound up to least.
func auditManifest(fs vfs.FS, name string, least int64) error {
	bad := int64(-1)
	soundTo, err := audit(fs, name, func(c chunk) {
		if !c.sound && bad < 0 {
			bad = c.at
		}
	})
	switch {
	case err != nil:
		return err
	case bad >= 0:
		return corrupt(name, "the checksum at byte %d is wrong", bad)
	case soundTo < least:
		return corrupt(name, "it can be read up to byte %d of %d", soundTo, least)
	}
	return nil
}

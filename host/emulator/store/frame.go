package store

import (
	"encoding/binary"
	"hash/crc32"
)

// The log is frames, one for each batch. A frame has a head and then records:
//
//	size    4 bytes, little-endian: of the records
//	check   4 bytes: the CRC-32C of what follows
//	number  8 bytes: of the frame, one more than of the frame before, over all segments
//
// A record is a kind and its fields; sizes are uvarints before their bytes:
//
//	K key check value   a key gets a value, of which the four bytes are the CRC-32C
//	D key               a key goes
//	R start end         the keys from start up to and without end go; an empty end is none
//	S segment oldest    the number of this segment, 0 but in its first frame, and that of
//	                    the oldest one that still counts
//	Y number            the last frame that was on the disk when this one was written, where
//	                    commits wait for the disk
const (
	frameHead = 16
	frameMost = 1 << 30 // bytes of the records; more is refused, and is damage

	recordSet    = 'K'
	recordDelete = 'D'
	recordRange  = 'R'
	recordLog    = 'S'
	recordSynced = 'Y'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is a record of a frame.
type record struct {
	kind       byte
	key, value []byte // start and end of a range; the value without its check
	at         int    // of the check of the value, in the records
	segment    uint64
	oldest     uint64
	synced     uint64
}

// newFrame is a frame without records.
func newFrame() []byte { return make([]byte, frameHead, 256) }

func appendSet(frame, space, key, value []byte) []byte {
	frame = appendKey(append(frame, recordSet), space, key)
	frame = binary.AppendUvarint(frame, uint64(len(value)))
	frame = binary.LittleEndian.AppendUint32(frame, crc32.Checksum(value, castagnoli))
	return append(frame, value...)
}

func appendDelete(frame, space, key []byte) []byte {
	return appendKey(append(frame, recordDelete), space, key)
}

func appendRange(frame, start, end []byte) []byte {
	return appendKey(appendKey(append(frame, recordRange), nil, start), nil, end)
}

func appendLog(frame []byte, segment, oldest uint64) []byte {
	frame = binary.AppendUvarint(append(frame, recordLog), segment)
	return binary.AppendUvarint(frame, oldest)
}

func appendSynced(frame []byte, number uint64) []byte {
	return binary.AppendUvarint(append(frame, recordSynced), number)
}

func appendKey(frame, space, key []byte) []byte {
	frame = binary.AppendUvarint(frame, uint64(len(space)+len(key)))
	return append(append(frame, space...), key...)
}

// seal writes the head of a frame.
func seal(frame []byte, number uint64) {
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-frameHead))
	binary.LittleEndian.PutUint64(frame[8:], number)
	binary.LittleEndian.PutUint32(frame[4:], crc32.Checksum(frame[8:], castagnoli))
}

// openFrame returns the frame at the beginning of some bytes, and how long it is. It is not
// ok when they are too few, or not what was written.
func openFrame(b []byte) (number uint64, records []byte, size int, ok bool) {
	if len(b) < frameHead {
		return 0, nil, 0, false
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n > frameMost || n > len(b)-frameHead || crc32.Checksum(b[8:frameHead+n], castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return 0, nil, 0, false
	}
	return binary.LittleEndian.Uint64(b[8:]), b[frameHead : frameHead+n], frameHead + n, true
}

// eachRecord calls f for each record, whose bytes are valid during the call. It reports
// whether all of them could be read.
func eachRecord(records []byte, f func(r record)) (ok bool) {
	at, ok := 0, true
	number := func() uint64 {
		n, k := binary.Uvarint(records[min(at, len(records)):])
		if k <= 0 {
			ok = false
			return 0
		}
		at += k
		return n
	}
	field := func(more int) []byte {
		n := number()
		at += more
		if !ok || at > len(records) || n > uint64(len(records)-at) {
			ok = false
			return nil
		}
		at += int(n)
		return records[at-int(n) : at]
	}
	for at < len(records) && ok {
		r := record{kind: records[at]}
		at++
		switch r.kind {
		case recordSet:
			r.key = field(0)
			r.value = field(checkSize)
			r.at = at - len(r.value) - checkSize
		case recordDelete:
			r.key = field(0)
		case recordRange:
			r.key, r.value = field(0), field(0)
		case recordLog:
			r.segment, r.oldest = number(), number()
		case recordSynced:
			r.synced = number()
		default:
			return false
		}
		if ok {
			f(r)
		}
	}
	return ok
}

// checkSize is the length of the check of a value.
const checkSize = 4

// checked returns the value behind its check.
func checked(b []byte) (value []byte, ok bool) {
	value = b[checkSize:]
	return value, crc32.Checksum(value, castagnoli) == binary.LittleEndian.Uint32(b)
}

// sizeOfSet is how many bytes the record of a key takes.
func sizeOfSet(key, value int) int64 {
	return int64(1 + uvarintSize(key) + key + uvarintSize(value) + checkSize + value)
}

func uvarintSize(n int) (size int) {
	for size = 1; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// reached reports whether any place of some bytes begins a frame that was written when the
// frame least was there already: then what lies before is not the end of writes that were cut
// short. A loss of power may leave a later write and not an earlier one that waited for the
// disk with it.
func reached(b []byte, least uint64) bool {
	for at := range b {
		if len(b)-at < frameHead {
			return false
		}
		number := binary.LittleEndian.Uint64(b[at+8:])
		if number < least || number > least+1<<32 {
			continue
		}
		if _, records, _, ok := openFrame(b[at:]); ok {
			synced := number
			eachRecord(records, func(r record) {
				if r.kind == recordSynced {
					synced = r.synced
				}
			})
			if synced >= least {
				return true
			}
		}
	}
	return false
}

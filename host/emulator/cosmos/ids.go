package cosmos

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"
)

// ids makes resource identifiers and etags out of a counter. It is guarded by its
// owner's mutex.
type ids struct {
	n     uint64
	epoch uint64 // of the store's state
}

func (s *ids) next() uint64 {
	s.n++
	return s.n
}

// ridEncoding is how the service writes resource identifiers into addresses: with
// a dash for the slash.
var ridEncoding = base64.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-") // read only

// database is the identifier of a database: 4 bytes.
func (s *ids) database() string {
	return ridEncoding.EncodeToString(binary.LittleEndian.AppendUint32(nil, uint32(s.next())))
}

// container is the identifier of a container: its database's, and 4 bytes of
// which the first bit is set.
func (s *ids) container(database string) string {
	b, _ := ridEncoding.DecodeString(database) // made above
	return ridEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, 1<<31|uint32(s.next())))
}

// item is the identifier of a document: its container's, and 8 bytes.
func (s *ids) item(container string) string {
	b, _ := ridEncoding.DecodeString(container)
	return ridEncoding.EncodeToString(binary.LittleEndian.AppendUint64(b, s.next()))
}

// etag is the version of a document, with quotes, in the service's form.
func (s *ids) etag(now time.Time) string {
	return fmt.Sprintf(`"%08x-0000-%04x-0000-%012x"`, s.next(), uint16(s.epoch), now.Unix())
}

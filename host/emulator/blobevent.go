package emulator

import (
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// BlobEvent is a blob that has come, or has been deleted: what the service tells
// Event Grid. Changes of metadata, headers, tiers and snapshots are none, nor is
// an append.
type BlobEvent struct {
	Deleted         bool
	API             string // PutBlob, PutBlockList, CopyBlob or DeleteBlob
	Container, Name string
	Time            time.Time

	// Of a blob that has come.
	ETag        string // without quotes
	Type        bindings.BlobType
	ContentType string
	Length      int64
}

// blobAPIs are the operations that raise an event, by their name at fault points.
var blobAPIs = map[string]string{"Put": "PutBlob", "PutBlockList": "PutBlockList", "CopyFrom": "CopyBlob", "Delete": "DeleteBlob"} // read only

// blobListener is one caller of OnBlobEvent. Its address is its identity.
type blobListener struct{ tell func(BlobEvent) }

// OnBlobEvent calls tell for each event, once it is written and without locks
// held, until stop is called. Callers are served in order of registration.
func (s *Storage) OnBlobEvent(tell func(BlobEvent)) (stop func()) {
	l := &blobListener{tell}
	b := &s.blobs
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(slices.Clip(b.listeners), l)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.listeners = slices.DeleteFunc(slices.Clone(b.listeners), func(o *blobListener) bool { return o == l })
	}
}

// eventLocked is the event of an operation that has been applied; nil if it raises
// none, or nobody listens.
func (tx *blobTx) eventLocked(p FaultPoint) *BlobEvent {
	api := blobAPIs[p.Op]
	if api == "" || p.Blob == "" || len(tx.listeners) == 0 {
		return nil
	}
	name := strings.ReplaceAll(p.Blob, `\`, "/")
	state := tx.container.blobs[name]
	exists := state != nil && state.base != nil
	if exists == (p.Op == "Delete") {
		return nil // only snapshots were deleted
	}
	e := &BlobEvent{Deleted: !exists, API: api, Container: p.Container, Name: name, Time: tx.now}
	if exists {
		e.ETag, e.Type = strings.Trim(state.base.Version.ETag, `"`), state.base.Type
		e.ContentType, e.Length = state.base.Headers.ContentType, state.base.Size
	}
	return e
}

func (s *blobs) raise(e *BlobEvent) {
	if e == nil {
		return
	}
	s.mu.Lock()
	listeners := s.listeners // never changed in place
	s.mu.Unlock()
	for _, l := range listeners {
		l.tell(*e)
	}
}

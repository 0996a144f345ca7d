package blobs

import (
	"slices"
	"strings"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// Event is a blob that has come, or has been deleted: what the service tells
// Event Grid. A change of metadata, headers, tiers or snapshots raises no event,
// and neither does an append.
type Event struct {
	Deleted         bool
	API             string // PutBlob, PutBlockList, CopyBlob or DeleteBlob
	Container, Name string
	Time            time.Time

	Type        blobapi.Type
	ContentType string

	// Of a blob that has come.
	ETag   string // without quotes
	Length int64
}

// eventAPIs are the operations that raise an event, by their name at fault points.
var eventAPIs = map[string]string{"Put": "PutBlob", "PutBlockList": "PutBlockList", "CopyFrom": "CopyBlob", "Delete": "DeleteBlob"} // read only

// blobListener is one caller of OnBlobEvent. Its address is its identity.
type blobListener struct{ tell func(Event) }

// OnBlobEvent calls tell for each event, once it is written and without locks
// held, until stop is called. Callers are served in order of registration.
func (s *Service) OnBlobEvent(tell func(Event)) (stop func()) {
	l := &blobListener{tell}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(slices.Clip(s.listeners), l)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listeners = slices.DeleteFunc(slices.Clone(s.listeners), func(o *blobListener) bool { return o == l })
	}
}

// subjectLocked is the blob that an operation may raise an event of, as it is now;
// nil if there is none, or without a listener.
func (tx *blobTx) subjectLocked(p account.FaultPoint) *blobRecord {
	if eventAPIs[p.Op] == "" || p.Blob == "" || len(tx.listeners) == 0 {
		return nil
	}
	if state := tx.container.blobs[strings.ReplaceAll(p.Blob, `\`, "/")]; state != nil {
		return state.base
	}
	return nil
}

// eventLocked is the event of an operation that has been applied; nil if it raises
// none, or without a listener. before is subjectLocked from before it.
func (tx *blobTx) eventLocked(p account.FaultPoint, before *blobRecord) *Event {
	r := tx.subjectLocked(p)
	gone := r == nil && before != nil
	if gone != (p.Op == "Delete") {
		return nil // only snapshots were deleted
	}
	if gone {
		r = before
	}
	if r == nil {
		return nil
	}
	e := &Event{
		Deleted: gone, API: eventAPIs[p.Op], Container: p.Container, Name: r.Name, Time: tx.now,
		Type: r.Type, ContentType: r.Headers.ContentType,
	}
	if !gone {
		e.ETag, e.Length = strings.Trim(r.Version.ETag, `"`), r.Size
	}
	return e
}

func (s *Service) raise(e *Event) {
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

// OnContainer calls made whenever a container has been created, without locks held,
// for as long as the account lives. It is for callers who have missed one; made must
// not wait.
func (s *Service) OnContainer(made func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = append(slices.Clip(s.made), made)
}

func (s *Service) tellMade() {
	s.mu.Lock()
	made := s.made // never changed in place
	s.mu.Unlock()
	for _, tell := range made {
		tell()
	}
}

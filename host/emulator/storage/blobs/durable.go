package blobs

import (
	"encoding/binary"
	"sync"

	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/fields"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Blobs that are kept in a store live in memory too, all but their bodies. An
// operation's changes are applied and written through as one batch before the
// operation is reported, in the way of the queues (durable.go); the state is read
// anew when a batch could not be written.

// Keys of blobs: their kind, a zero byte, and what names the thing. Names of blobs
// come with their length, because they may hold any byte.
const (
	containerKind = 'c' // container; value: JSON of containerRecord
	blobKind      = 'b' // container 0 name snapshot; value: blobRecord
	blockKind     = 'k' // container 0 name block; value: JSON of blockRecord
	contentKind   = 'n' // id; value: its segments. id index: one more segment. id offset: a run of pages
	bodyKind      = 'v' // number; value: the bytes of a small body
)

// blobAccountKey holds the counters of the account, blobPropertiesKey the settings
// of the service as JSON.
var (
	blobAccountKey    = []byte("blobs")
	blobPropertiesKey = []byte("blobproperties")
)

func containerKey(name string) []byte { return append([]byte{containerKind, 0}, name...) }

// inContainer begins the keys of a kind that belong to a container.
func inContainer(kind byte, container string) []byte {
	return append(append([]byte{kind, 0}, container...), 0)
}

func underName(kind byte, k blobKey) []byte {
	return fields.AppendString(inContainer(kind, k.Container), k.Name)
}

func blobKeyOf(k blobKey) []byte { return append(underName(blobKind, k), k.Snapshot...) }

func blockKeyOf(k blobKey, block string) []byte { return append(underName(blockKind, k), block...) }

func contentKey(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte{contentKind, 0}, id) }

func segmentKey(id uint64, index int) []byte {
	return binary.BigEndian.AppendUint32(contentKey(id), uint32(index))
}

func (c setAccount) save(_ *Service, w *keep.Change) {
	w.Set(blobAccountKey, c.append(nil))
	if c.Settings {
		account.SetJSON(w, blobPropertiesKey, c.Properties)
	}
}

func (c putContainer) save(_ *Service, w *keep.Change) {
	account.SetJSON(w, containerKey(c.Name), c.containerRecord)
}

func (c dropContainer) save(_ *Service, w *keep.Change) {
	w.Delete(containerKey(c.Name))
	w.DeletePrefix(inContainer(blobKind, c.Name))
	w.DeletePrefix(inContainer(blockKind, c.Name))
}

func (c putBlob) save(_ *Service, w *keep.Change) {
	w.Set(blobKeyOf(c.blobKey), c.append(make([]byte, 0, 256)))
}

func (c dropBlob) save(_ *Service, w *keep.Change)   { w.Delete(blobKeyOf(c.blobKey)) }
func (c dropBlocks) save(_ *Service, w *keep.Change) { w.DeletePrefix(underName(blockKind, c.blobKey)) }

func (c putBlock) save(_ *Service, w *keep.Change) {
	account.SetJSON(w, blockKeyOf(c.blobKey, c.Block), c.blockRecord)
}

func (c putContent) save(_ *Service, w *keep.Change) {
	w.Set(contentKey(c.ID), appendSegments(nil, c.Segments))
}

func (c appendSegment) save(s *Service, w *keep.Change) {
	w.Set(segmentKey(c.Content, len(s.contents[c.Content].Segments)), appendSegments(nil, []segment{c.Segment}))
}

// runKey is where a run of pages is that begins at an offset.
func runKey(id uint64, at int64) []byte {
	return binary.BigEndian.AppendUint64(contentKey(id), uint64(at))
}

// save writes the runs that have changed; all of them the first time, when the store has
// the pages in one list.
func (c patchPages) save(s *Service, w *keep.Change) {
	of := s.contents[c.Content]
	made := of.rewritten.made
	if !of.inRuns {
		of.inRuns, of.appended = true, true
		w.Set(contentKey(of.ID), appendSegments(nil, nil))
		made = of.pages.runs
	} else {
		for _, at := range of.rewritten.gone {
			w.Delete(runKey(of.ID, at))
		}
	}
	for _, run := range made {
		w.Set(runKey(of.ID, run[0].At), appendSegments(nil, run))
	}
}

// save is for changes of an operation: a run comes from the store only.
func (pageRun) save(*Service, *keep.Change) {}

// dropContent removes a content with what was appended to it.
func dropContent(c *keep.Change, of *content) {
	c.Delete(contentKey(of.ID))
	if of.appended {
		c.DeletePrefix(contentKey(of.ID))
	}
}

// Keeper implements account.Service.
func (s *Service) Keeper() *keep.Keeper { return s.kept }

// Mutex implements account.Service.
func (s *Service) Mutex() *sync.Mutex { return &s.mu }

// Open implements account.Service.
func (s *Service) Open(db *store.Store) error {
	s.bodies = newStoreBodies(db)
	return s.kept.Open(db)
}

// Check implements account.Service.
func (s *Service) Check(r store.Reader) error { return s.state.Check(r) }

// kind describes the stored state of blobs: see [keep.Kind]. They are copied and
// restored with their bodies, which are more than keys.
func (s *Service) kind() keep.Kind[blobsState] {
	return keep.Kind[blobsState]{
		Keys: keep.Keys{Name: "the blobs"}, Read: readBlobs, Take: s.takeLocked,
		Count: func(c *keep.Change) { account.SetTime(c, s.clk.Now()) },
	}
}

// writeLocked applies changes and begins to write them.
func (s *Service) writeLocked(changes []blobChange) (keep.Awaited, error) {
	c := s.kept.Change()
	w := &c
	w.Writable()
	if err := w.Err(); err != nil {
		return keep.Awaited{}, err
	}
	s.writing = w
	s.apply(changes)
	s.writing = nil
	return s.beginLocked(w)
}

// beginLocked begins to write what was collected.
func (s *Service) beginLocked(w *keep.Change) (keep.Awaited, error) {
	commit, err := s.kept.Begin(w)
	if err == nil && w.Written() {
		s.keptBodies()
	}
	return commit, err
}

// keptBodies tells the bodies that a batch has begun.
func (s *Service) keptBodies() {
	if bodies, ok := s.bodies.(*storeBodies); ok {
		bodies.kept()
	}
}

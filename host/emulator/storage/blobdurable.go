package storage

import (
	"encoding/binary"
	"encoding/json"

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

const blobFormat = 1 // first byte of each value that is JSON

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

func (c *change) setJSON(key []byte, v any) {
	if !c.Writable() {
		return
	}
	value, err := json.Marshal(v)
	if err != nil {
		panic("emulator: a record that JSON does not have: " + err.Error())
	}
	c.Set(key, append([]byte{blobFormat}, value...))
}

func (c setAccount) save(_ *blobs, w *change) {
	w.Set(blobAccountKey, c.append(nil))
	if c.Settings {
		w.setJSON(blobPropertiesKey, c.Properties)
	}
}

func (c putContainer) save(_ *blobs, w *change) { w.setJSON(containerKey(c.Name), c.containerRecord) }

func (c dropContainer) save(_ *blobs, w *change) {
	w.Delete(containerKey(c.Name))
	w.DeletePrefix(inContainer(blobKind, c.Name))
	w.DeletePrefix(inContainer(blockKind, c.Name))
}

func (c putBlob) save(_ *blobs, w *change) {
	w.Set(blobKeyOf(c.blobKey), c.append(make([]byte, 0, 256)))
}

func (c dropBlob) save(_ *blobs, w *change)   { w.Delete(blobKeyOf(c.blobKey)) }
func (c dropBlocks) save(_ *blobs, w *change) { w.DeletePrefix(underName(blockKind, c.blobKey)) }

func (c putBlock) save(_ *blobs, w *change) {
	w.setJSON(blockKeyOf(c.blobKey, c.Block), c.blockRecord)
}

func (c putContent) save(_ *blobs, w *change) {
	w.Set(contentKey(c.ID), appendSegments(nil, c.Segments))
}

func (c appendSegment) save(s *blobs, w *change) {
	w.Set(segmentKey(c.Content, len(s.contents[c.Content].Segments)), appendSegments(nil, []segment{c.Segment}))
}

// runKey is where a run of pages is that begins at an offset.
func runKey(id uint64, at int64) []byte {
	return binary.BigEndian.AppendUint64(contentKey(id), uint64(at))
}

// save writes the runs that have changed; all of them the first time, when the store has
// the pages in one list.
func (c patchPages) save(s *blobs, w *change) {
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
func (pageRun) save(*blobs, *change) {}

// dropContent removes a content with what was appended to it.
func (c *change) dropContent(of *content) {
	c.Delete(contentKey(of.ID))
	if of.appended {
		c.DeletePrefix(contentKey(of.ID))
	}
}

// kind describes the stored state of blobs: see [keep.Kind]. They are copied and
// restored with their bodies, which are more than keys.
func (s *blobs) kind() keep.Kind[blobsState] {
	return keep.Kind[blobsState]{
		Keys: keep.Keys{Name: "the blobs"}, Read: readBlobs, Take: s.takeLocked,
		Count: func(c *keep.Change) { setTime(c, s.clk.Now()) },
	}
}

// writeLocked applies changes and begins to write them.
func (s *blobs) writeLocked(changes []blobChange) (keep.Awaited, error) {
	w := &change{s.kept.Change()}
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
func (s *blobs) beginLocked(w *change) (keep.Awaited, error) {
	commit, err := s.kept.Begin(&w.Change)
	if err == nil && w.Written() {
		s.keptBodies()
	}
	return commit, err
}

// keptBodies tells the bodies that a batch has begun.
func (s *blobs) keptBodies() {
	if bodies, ok := s.bodies.(*storeBodies); ok {
		bodies.kept()
	}
}

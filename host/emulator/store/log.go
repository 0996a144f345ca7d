package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// The log of a state is segments, files that are written one after the other: log/00000001.log
// and so on. The first frame of each says which number it has, and which is the oldest
// segment that counts. A value is read where it was written; the index has its place.
//
// A segment is long enough that a few dozen hold everything.
const (
	segmentLeast = 1 << 20 // bytes at which a segment is full
	segmentShare = 32      // or this part of the log, if that is more
	segmentMost  = 4 << 20 // unless the disk is small
	segmentRoom  = 64      // a disk is small if it has not so many segments free
	aheadAtOnce  = 256 << 10
)

// segment is a file of the log.
type segment struct {
	number uint64
	name   string
	f      file
	size   int64        // of its sound frames
	live   int64        // bytes of the records that still count
	first  uint64       // number of its first frame
	ahead  int64        // up to here the file is written with zeros
	users  atomic.Int32 // reads of it, and 1 for the log
	closed func()       // called when the last user has gone; nil: nothing
}

// release ends a use; the last one closes the file.
func (g *segment) release() {
	if g.users.Add(-1) > 0 {
		return
	}
	_ = g.f.Close() // what was written to it is synced
	if g.closed != nil {
		g.closed()
	}
}

// log is the segments of a state. Its owner's mutex guards it.
type log struct {
	disk     *disk
	dir      string
	segments []*segment    // the oldest first; frames are added to the last
	number   uint64        // of the last frame
	size     int64         // of all segments
	live     int64         // bytes of the records that still count
	limit    int64         // at which the last segment is full
	torn     bool          // there may be something behind the last frame
	unbegun  string        // a file that is no segment yet; empty: none
	fixed    int64         // the limit of every segment; 0: it follows from the sizes
	synced   func() uint64 // the last frame that is on the disk
}

func segmentName(dir string, number uint64) string {
	return path.Join(dir, fmt.Sprintf("%08d.log", number))
}

func (l *log) last() *segment { return l.segments[len(l.segments)-1] }

// of is the segment in which a place is.
func (l *log) of(p place) *segment { return l.segments[p.segment-l.segments[0].number] }

// full reports whether another frame belongs into the next segment.
func (l *log) full(frame []byte) bool {
	g := l.last()
	return g.size+int64(len(frame)) > l.limit && l.number > g.first
}

// add writes a frame, whose head is empty yet. After an error the log is as it was.
func (l *log) add(frame []byte) (g *segment, at int64, err error) {
	if err := l.mend(); err != nil {
		return nil, 0, err
	}
	g = l.last()
	if l.disk.sync {
		frame = appendSynced(frame, l.synced())
	}
	seal(frame, l.number+1)
	l.writeAhead(g, len(frame))
	if _, err := g.f.WriteAt(frame, g.size); err != nil {
		l.torn = true
		_ = l.mend() // or before the next frame
		return nil, 0, err
	}
	at = g.size
	l.number++
	l.grow(g, int64(len(frame)))
	return g, at, nil
}

// writeAhead makes a segment longer by many frames at once where each waits for the disk:
// that a file has grown costs more than its content. Where there is no room it does nothing.
func (l *log) writeAhead(g *segment, frame int) {
	if !l.disk.sync || g.size+int64(frame) <= g.ahead {
		return
	}
	ahead := min(max(g.ahead, g.size)+aheadAtOnce, max(l.limit, g.size))
	if zeros := ahead - max(g.ahead, g.size+int64(frame)); zeros > 0 && l.disk.hasFree(l.dir, aheadAtOnce*segmentRoom) {
		if _, err := g.f.WriteAt(make([]byte, zeros), ahead-zeros); err != nil {
			l.torn = true
		}
		g.ahead = ahead
	}
}

func (l *log) grow(g *segment, bytes int64) {
	g.size += bytes
	l.size += bytes
}

// mend removes what a write has left that failed or was cut short. A segment behind which
// another file lies must be whole, and so that file goes before the next frame, for good.
func (l *log) mend() error {
	if l.unbegun != "" {
		if err := l.disk.Remove(l.unbegun); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := l.disk.SyncDir(l.dir); err != nil {
			return err
		}
		l.unbegun = ""
	}
	if !l.torn {
		return nil
	}
	return l.cut()
}

// cut ends the last segment behind its last frame.
func (l *log) cut() error {
	g := l.last()
	if err := g.f.Truncate(g.size); err != nil {
		return err
	}
	l.torn, g.ahead = false, g.size
	return nil
}

// begin makes a segment, which is on the disk then.
func (l *log) begin(number, oldest uint64) error {
	g := &segment{number: number, name: segmentName(l.dir, number)}
	frame := appendLog(newFrame(), number, oldest)
	seal(frame, l.number+1)
	var err error
	if g.f, err = l.disk.Create(g.name); err != nil {
		return err
	}
	l.unbegun = g.name
	if _, err = g.f.WriteAt(frame, 0); err == nil {
		err = g.f.Sync()
	}
	if err == nil {
		err = l.disk.SyncDir(l.dir)
	}
	if err != nil {
		err = errors.Join(err, g.f.Close())
		_ = l.mend() // or before the next frame
		return err
	}
	l.unbegun = ""
	g.users.Store(1)
	l.segments = append(l.segments, g)
	l.number++
	g.first = l.number
	l.grow(g, int64(len(frame)))
	l.setLimit()
	return nil
}

// setLimit says when the last segment is full.
func (l *log) setLimit() {
	if l.limit = l.fixed; l.fixed > 0 {
		return
	}
	l.limit = segmentMost
	if free, err := l.disk.Free(l.dir); err == nil && free < segmentRoom*segmentMost {
		l.limit = segmentLeast
	}
	l.limit = max(l.limit, l.size/segmentShare)
}

// dropOldest takes the oldest segment away, of which no record counts any more. It is not
// the last one.
func (l *log) dropOldest() *segment {
	g := l.segments[0]
	l.segments = slices.Clone(l.segments[1:]) // views have the slice
	l.size -= g.size
	return g
}

// closeAll ends the log's own use of the segments.
func (l *log) closeAll() {
	for _, g := range l.segments {
		g.release()
	}
}

// openLog reads the segments in a directory, and calls f for each frame in turn, up to a
// number. What is damaged comes to light, but for the end of a last write that may have been
// cut short.
func openLog(l *log, upTo uint64, f func(g *segment, at int64, records []byte)) (err error) {
	numbers, err := l.list()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			l.closeAll()
		}
	}()
	oldest := uint64(0)
	for i, number := range numbers {
		g := &segment{number: number, name: segmentName(l.dir, number)}
		g.users.Store(1)
		if g.f, err = l.disk.Reopen(g.name); err != nil {
			return err
		}
		l.segments = append(l.segments, g)
		last := i == len(numbers)-1
		if err := l.read(g, last, upTo, &oldest, f); err != nil {
			return err
		}
		switch {
		case g.size > 0:
		case !last || i == 0:
			return corrupt(g.name, "it is empty")
		default: // its first frame was cut short
			l.segments, l.torn, l.unbegun = l.segments[:i], false, g.name
			g.release()
		}
	}
	if first := numbers[0]; first > oldest {
		return corrupt(segmentName(l.dir, first-1), "it is missing")
	}
	l.setLimit()
	return nil
}

// list returns the numbers of the segments that are there without a gap, up to the last.
func (l *log) list() (numbers []uint64, err error) {
	names, err := l.disk.List(l.dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, ok := strings.CutSuffix(name, ".log")
		if n, err := strconv.ParseUint(text, 10, 64); ok && err == nil {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil, corrupt(l.dir, "its log is missing")
	}
	slices.Sort(numbers)
	first := len(numbers) - 1
	for first > 0 && numbers[first-1] == numbers[first]-1 {
		first--
	}
	return numbers[first:], nil
}

// read reads a segment.
func (l *log) read(g *segment, last bool, upTo uint64, oldest *uint64, f func(g *segment, at int64, records []byte)) error {
	size, err := g.f.Size()
	if err != nil {
		return err
	}
	b := make([]byte, size)
	if n, err := g.f.ReadAt(b, 0); err != nil && !(errors.Is(err, io.EOF) && int64(n) == size) {
		return err
	}
	for g.size < size {
		rest := b[g.size:]
		number, records, n, ok := openFrame(rest)
		switch first := l.number == 0; {
		case ok && (first || number == l.number+1):
		case last && !reached(rest, l.number+1) && !ok:
			l.torn = true // cut short
			return nil
		case ok:
			return corrupt(g.name, "frame %d at %d, want %d", number, g.size, l.number+1)
		default:
			return corrupt(g.name, "the frame at %d is not what was written", g.size)
		}
		named := g.size > 0
		ok = eachRecord(records, func(r record) {
			if r.kind == recordLog {
				named = named || r.segment == g.number
				*oldest = max(*oldest, r.oldest)
			}
		})
		if !ok || !named {
			return corrupt(g.name, "the frame at %d is not one of this segment", g.size)
		}
		if last && g.size > 0 && number > upTo {
			l.torn = true
			return nil
		}
		l.number = number
		f(g, g.size, records)
		l.grow(g, int64(n))
	}
	return nil
}

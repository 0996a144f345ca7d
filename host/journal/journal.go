// Package journal is the one account of what happened in a host: an ordered
// list of facts. Log lines, command output, user interfaces and test
// assertions are its subscribers and have no other source, so they cannot disagree.
//
// [Record] says what a fact holds and how it prints, [Journal] keeps and hands
// out records, [Subscription] follows them. Appending never blocks: a reader
// that falls behind what the journal keeps is told how much it missed.
//
// A journal does not know the host's clock; it is given the time as a function.
// With the virtual clock, the same seed and the same input give the same lines,
// byte for byte. Facts that may differ between two runs (real durations, process
// ids, stacks) travel in Record.Beside and are not printed.
package journal

import (
	"context"
	"io"
	"sync"
	"time"
)

// DefaultKeep is the number of records that a journal keeps by default.
const DefaultKeep = 1 << 16

// DefaultKeepBytes is the room that the kept records may take by default.
const DefaultKeepBytes = 64 << 20

// chunkSize is the number of records that are allocated, and let go, at once.
const chunkSize = 256

// Journal is an ordered list of records. Its methods may be called
// concurrently.
type Journal struct {
	*book
	app   string               // whose records it appends: see For
	watch func() func(*Record) // may be nil
}

// book is what all journals have that append to one list.
type book struct {
	now  func() time.Time
	keep int // records; 0: everything
	room int // bytes; 0: as many as there are

	mu       sync.Mutex
	next     uint64   // sequence number of the next record, from 1
	first    uint64   // sequence number of the oldest record that is kept
	base     uint64   // sequence number of the first record of chunks[0]
	bytes    int      // what the kept records take
	epoch    int      // counts resets
	chunks   []*chunk // full, but for the last
	subjects subjects
	words    words
	found    Record                     // what Find shows
	changed  map[chan struct{}]struct{} //clock:outside readers follow in real time
}

// Options changes what a journal keeps.
type Options struct {
	// Keep is the number of records kept, give or take some hundred; zero for
	// DefaultKeep, negative for all of them (tests; memory grows without limit).
	Keep int

	// KeepBytes bounds the memory that the kept records take, with their texts; the
	// newest is always kept. Zero for DefaultKeepBytes, or no bound when Keep is
	// negative; negative for none.
	KeepBytes int

	// Watch, if not nil, is asked after each record, and what it returns, if not nil, is
	// called with that record: when it can be read, on the goroutine that has appended it
	// and under no lock of the journal. Tests use it to act at a point: readers come later.
	// A record that nobody wants to see costs no memory.
	Watch func() func(*Record)
}

// New returns an empty journal that takes its times from now.
func New(now func() time.Time, opts *Options) *Journal {
	keep, room := DefaultKeep, DefaultKeepBytes
	if opts != nil && opts.Keep != 0 {
		if keep = max(opts.Keep, 0); keep == 0 {
			room = 0
		}
	}
	if opts != nil && opts.KeepBytes != 0 {
		room = max(opts.KeepBytes, 0)
	}
	j := &Journal{book: &book{now: now, keep: keep, room: room, next: 1, first: 1, base: 1, changed: map[chan struct{}]struct{}{}}} //clock:outside readers follow in real time
	if opts != nil {
		j.watch = opts.Watch
	}
	return j
}

// For is the same list as one of several apps of a run writes it. What is appended
// through it says whose it is: Record.App is the app, and the name of a function is
// qualified (see [Qualified]), so that no reader takes functions of one name for each
// other. Facts of the whole run, the clock's and the state's, are left as they are. An
// empty app appends as [New]'s journal does. watch is Options.Watch, for these records.
func (j *Journal) For(app string, watch func() func(*Record)) *Journal {
	return &Journal{book: j.book, app: app, watch: watch}
}

// Qualified is the name of an app's function in a run of several apps: "app/function". In
// a run of one, whose app has no name here, it is the function's own.
func Qualified(app, function string) string {
	if app == "" || function == "" {
		return function
	}
	return app + "/" + function
}

// Append sets the record's Seq and Time, keeps it and wakes the readers. It
// never waits for one.
func (j *Journal) Append(r Record) {
	if j.app != "" && r.Kind != ClockMoved && r.Kind != StateLoaded {
		r.App, r.Function = j.app, Qualified(j.app, r.Function)
	}
	j.append(&r)
	if j.watch == nil {
		return
	}
	if see := j.watch(); see != nil {
		seen := r // so that r itself stays off the heap
		see(&seen)
	}
}

func (j *Journal) append(r *Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	r.Seq, r.Time = j.next, now
	last := len(j.chunks) - 1
	if last < 0 || len(j.chunks[last].list) == chunkSize {
		j.chunks = append(j.chunks, newChunk(j.next, now))
		last++
	}
	j.bytes += j.keepLocked(j.chunks[last], r, now)
	j.next++
	if j.keep > 0 && j.next-j.base > uint64(j.keep+chunkSize) {
		for oldest := j.base + chunkSize; j.first < oldest; {
			j.forgetLocked()
		}
	}
	for j.room > 0 && j.bytes > j.room && j.first < j.next-1 {
		j.forgetLocked()
	}
	for c := range j.changed {
		select { //clock:outside never blocks
		case c <- struct{}{}:
		default:
		}
	}
}

// forgetLocked lets the oldest record go.
func (j *Journal) forgetLocked() {
	c := j.chunks[0]
	j.bytes -= c.forget(int(j.first - j.base))
	if j.first++; j.first == j.base+chunkSize {
		j.chunks[0] = nil
		j.chunks = j.chunks[1:]
		j.base = j.first
	}
}

// Len is the number of records appended so far, those no longer kept included.
func (j *Journal) Len() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next - 1
}

// Records returns a copy of the records that are kept, oldest first.
func (j *Journal) Records() []Record { return j.Since(1) }

// Since returns a copy of the kept records with a sequence number of seq or
// more, oldest first.
func (j *Journal) Since(seq uint64) []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	seq = max(seq, j.first)
	if seq >= j.next {
		return nil
	}
	out := make([]Record, j.next-seq)
	for i := range out {
		j.loadLocked(&out[i], seq+uint64(i))
	}
	return out
}

// Find returns the first kept record at or after seq that match accepts. match
// runs under the journal's lock: it must be quick, must not call back, and must
// not keep the pointer.
func (j *Journal) Find(seq uint64, match func(*Record) bool) (Record, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &j.found
	for seq = max(seq, j.first); seq < j.next; seq++ {
		if j.loadLocked(r, seq); match(r) {
			return *r, true
		}
	}
	return Record{}, false
}

// FindKind is Find for records of one kind. It passes over the others quickly.
func (j *Journal) FindKind(seq uint64, kind Kind, match func(*Record) bool) (Record, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &j.found
	last := min(j.next-1, j.words.latest(kind))
	for seq = max(seq, j.first); seq <= last; seq++ {
		if j.kindLocked(seq) != kind {
			continue
		}
		if j.loadLocked(r, seq); match(r) {
			return *r, true
		}
	}
	return Record{}, false
}

// Reset forgets every record and starts again at sequence number 1.
// Subscriptions go on with the next record.
func (j *Journal) Reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.chunks, j.subjects, j.first, j.base, j.next, j.bytes = nil, subjects{}, 1, 1, 1, 0
	j.words.forget()
	j.epoch++
}

// WriteTo writes the kept records as NDJSON, one line each.
func (j *Journal) WriteTo(w io.Writer) (int64, error) {
	var b []byte
	for _, r := range j.Records() {
		b = append(r.AppendLine(b), '\n')
	}
	n, err := w.Write(b)
	return int64(n), err
}

// Wait returns the first record, kept or to come, that match accepts, or ctx's
// error. It waits in real time and is for goroutines outside the clock: it
// replaces polling in tests and commands.
func (j *Journal) Wait(ctx context.Context, match func(*Record) bool) (Record, error) {
	s := j.Subscribe(1)
	defer s.Close()
	for {
		r, _, err := s.Next(ctx)
		if err != nil {
			return Record{}, err
		}
		if match(&r) {
			return r, nil
		}
	}
}

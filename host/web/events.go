//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
)

// RunHeader is a header of the journal's answers: the identity of this run of the host.
// Sequence numbers of another run mean other records.
const RunHeader = "X-Redeliver-Run"

// The stream of server-sent events, where nothing comes and where much comes: a comment
// after so long tells both sides that the other is there; batches are at least so far
// apart, so that many records in little time cost few packets, and are at most so large.
const (
	aliveEvery   = 15 * time.Second
	batchesApart = 40 * time.Millisecond
	mostRecords  = 1000
	mostBytes    = 1 << 20
)

// wantsEvents reports whether a caller takes server-sent events.
func wantsEvents(r *http.Request) bool {
	for _, accept := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(accept, ",") {
			kind, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
				return true
			}
		}
	}
	return false
}

// resumed is where a caller that names its last event goes on. A number that the journal
// has not reached is one of an earlier run: that caller begins anew.
func (s *Server) resumed(r *http.Request, since uint64) (uint64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		return since, nil
	}
	last, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, ops.Refuse(http.StatusBadRequest, "Last-Event-ID must be the sequence number of a record", "")
	}
	if last > s.host.Journal().Len() {
		return 1, nil
	}
	return last + 1, nil
}

// events writes records as server-sent events, or the lives that they tell.
func (s *Server) events(w http.ResponseWriter, r *http.Request, sub *journal.Subscription, follow bool, lives *explain.Teller) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	out := &eventWriter{w: w, flush: http.NewResponseController(w), lives: lives}
	ctx, cancel := s.untilClose(r)
	defer cancel()
	if follow {
		out.flushNow() // the caller learns that the stream is open
	}
	for out.err == nil {
		ended := !follow || ctx.Err() != nil // as in journal
		if full := out.gather(sub); full {
			continue
		} else if ended {
			return
		}
		out.rest(ctx, sub)
	}
}

// eventWriter writes events; err is the first failure.
type eventWriter struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	lives *explain.Teller // nil: records are written as they are
	buf   []byte
	err   error
}

// gather writes the batch that is ready, and reports whether there may be more.
func (e *eventWriter) gather(sub *journal.Subscription) (full bool) {
	e.buf = e.buf[:0]
	n, last := 0, uint64(0)
	for !full {
		rec, missed, ok := sub.TryNext()
		if !ok {
			break
		}
		if missed > 0 {
			e.end(n, last)
			e.buf, n = append(strconv.AppendUint(append(e.buf, "event: missed\ndata: {\"missed\":"...), missed, 10), "}\n\n"...), 0
		}
		switch {
		case e.lives != nil:
			e.lives.Add(&rec)
		case n == 0:
			e.buf = appendBeside(append(e.buf, "event: records\ndata: ["...), &rec)
		default:
			e.buf = appendBeside(append(e.buf, ','), &rec)
		}
		n, last = n+1, rec.Seq
		full = n == mostRecords || len(e.buf) >= mostBytes || e.lives != nil && len(e.lives.Changes().Lives) >= mostRecords // a batch is one
	}
	if e.end(n, last); len(e.buf) == 0 {
		return false
	}
	if _, e.err = e.w.Write(e.buf); e.err == nil {
		e.flushNow()
	}
	if cap(e.buf) > 2*mostBytes { // after a record that was larger than all others
		e.buf = nil
	}
	return full
}

// end ends an event, where one was begun.
func (e *eventWriter) end(records int, last uint64) {
	if records == 0 {
		return
	}
	if e.lives == nil {
		e.buf = append(e.buf, ']')
	} else {
		changes := e.lives.Changes()
		e.buf = changes.AppendJSON(append(e.buf, "event: lives\ndata: "...))
		e.lives.Flush()
	}
	e.buf = append(strconv.AppendUint(append(e.buf, "\nid: "...), last, 10), "\n\n"...)
}

// rest waits until there is more to write, or ctx ends.
func (e *eventWriter) rest(ctx context.Context, sub *journal.Subscription) {
	if !apart(ctx) {
		return
	}
	for e.err == nil {
		idle, cancel := context.WithTimeout(ctx, aliveEvery)
		err := sub.Wait(idle)
		cancel()
		if err == nil || ctx.Err() != nil {
			return
		}
		if _, e.err = e.w.Write([]byte(": alive\n\n")); e.err == nil {
			e.flushNow()
		}
	}
}

func (e *eventWriter) flushNow() {
	if err := e.flush.Flush(); err != nil && e.err == nil {
		e.err = err
	}
}

// appendBeside appends the line of a record, and what it does not have: the stack of a
// failure, the identities of a batch's messages with their numbers, delivery counts and
// decisions, what a worker adds to the span of an
// attempt, and how long that took in real time.
func appendBeside(b []byte, rec *journal.Record) []byte {
	b = rec.AppendLine(b)
	if rec.Beside.Stack != "" {
		text, _ := json.Marshal(rec.Beside.Stack) // a string always marshals
		b = append(append(append(b[:len(b)-1], `,"stack":`...), text...), '}')
	}
	if rec.Beside.Batch != "" {
		b = append(append(append(b[:len(b)-1], `,"batch":`...), rec.Beside.Batch...), '}')
	}
	if rec.Beside.Members != "" {
		b = append(append(append(b[:len(b)-1], `,"members":`...), rec.Beside.Members...), '}')
	}
	if rec.Beside.Counts != "" {
		b = append(append(append(b[:len(b)-1], `,"counts":`...), rec.Beside.Counts...), '}')
	}
	if rec.Beside.Span != "" {
		b = append(append(append(b[:len(b)-1], `,"span":`...), rec.Beside.Span...), '}')
	}
	if ms := rec.Beside.Elapsed.Milliseconds(); ms > 0 {
		b = append(strconv.AppendInt(append(b[:len(b)-1], `,"elapsed_ms":`...), ms, 10), '}')
	}
	return b
}

// apart waits until the next batch may be written, and reports whether ctx lets it go on.
func apart(ctx context.Context) bool {
	timer := time.NewTimer(batchesApart)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

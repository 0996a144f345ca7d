//clock:outside sockets and their callers are of the real world

package web

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

// mostStreams is how many callers may read the journal at once. One that does not read
// takes the room of a batch, until listen.SendPatience is over.
const mostStreams = 64

// mostPages is how many of these may be told lives, each with a Teller of its own: a browser
// has six at most.
const mostPages = 16

// journal writes records, as NDJSON or as server-sent events: those that are kept, and
// with follow=true those to come, until the caller goes or the server closes. A caller
// that does not read holds up itself alone: what is no longer kept meanwhile it misses.
func (s *Server) journal(w http.ResponseWriter, r *http.Request, in run.ReadJournal) error {
	from, err := s.resumed(r, uint64(in.Since))
	if err != nil {
		return err
	}
	sub, leave, err := reads(s, w, from)
	if err != nil {
		return err
	}
	defer leave()
	if wantsEvents(r) {
		s.events(w, r, sub, in.Follow, nil)
		return nil
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	out := &lines{w: w, flush: http.NewResponseController(w)}
	ctx, cancel := s.untilClose(r)
	defer cancel()
	for {
		// What comes before the end of the server is written when that ends the waiting.
		ended := !in.Follow || ctx.Err() != nil
		if out.drain(sub); ended || out.err != nil {
			return nil
		}
		if apart(ctx) {
			_ = sub.Wait(ctx)
		}
	}
}

// reads begins the answer to a caller that reads the journal from a record on.
func reads(s *Server, w http.ResponseWriter, from uint64) (sub *journal.Subscription, leave func(), err error) {
	if s.readers.Add(1) > mostStreams {
		s.readers.Add(-1)
		return nil, nil, ops.Refuse(http.StatusTooManyRequests, fmt.Sprintf("%d callers read the journal already, which is the most", mostStreams), "end some of them: pages of this host, redeliver logs")
	}
	w.Header().Set(RunHeader, s.id)
	sub = s.host.Journal().Subscribe(from)
	uncut := s.cutAfterClose(w)
	return sub, func() { uncut(); sub.Close(); s.readers.Add(-1) }, nil
}

// followed serves what goes on until the caller leaves.
func followed(s *Server, write func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.guardedly(w, r, func() error { return write(w, r) }); err != nil {
			writeRefusal(w, (*ops.Service)(nil).Refusal(err))
		}
	}
}

// livesOr serves an operation: ListLives to a caller that follows them as server-sent events.
func livesOr(s *Server, op ops.Deed, whole http.HandlerFunc) http.HandlerFunc {
	if op.In != reflect.TypeFor[run.ListLives]() {
		return whole
	}
	follow := followed(s, func(w http.ResponseWriter, r *http.Request) error {
		defer s.pages.Add(-1)
		if s.pages.Add(1) > mostPages {
			return ops.Refuse(http.StatusTooManyRequests, fmt.Sprintf("%d pages are open already, which is the most", mostPages), "close some of them")
		}
		sub, leave, err := reads(s, w, 1)
		if err != nil {
			return err
		}
		defer leave()
		lives := explain.NewTeller(mostOfPage)
		lives.MostLives = mostLives
		s.events(w, r, sub, true, lives)
		return nil
	})
	return func(w http.ResponseWriter, r *http.Request) {
		if wantsEvents(r) {
			follow(w, r)
		} else {
			whole(w, r)
		}
	}
}

// What a page may have: so many records of lives, and so many lives, in some 100 MB of a
// browser that is left open overnight. A life costs one to three kB here.
const (
	mostOfPage = 200_000
	mostLives  = mostOfPage / 4
)

// lines writes NDJSON; err is the first failure.
type lines struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	buf   []byte
	err   error
}

// drain writes the records that there are, a piece at a time.
func (l *lines) drain(sub *journal.Subscription) {
	for l.err == nil {
		rec, missed, ok := sub.TryNext()
		if !ok {
			break
		}
		if missed > 0 {
			l.buf = append(strconv.AppendUint(append(l.buf, `{"missed":`...), missed, 10), "}\n"...)
		}
		if l.buf = append(rec.AppendLine(l.buf), '\n'); len(l.buf) >= mostOfLines {
			l.write()
		}
	}
	if l.write(); l.err == nil {
		l.err = l.flush.Flush()
	}
}

// mostOfLines is the size at which a piece is written.
const mostOfLines = 32 << 10

func (l *lines) write() {
	if len(l.buf) > 0 && l.err == nil {
		_, l.err = l.w.Write(l.buf)
	}
	if l.buf = l.buf[:0]; cap(l.buf) > 2*mostBytes { // after a record that was larger than all others
		l.buf = nil
	}
}

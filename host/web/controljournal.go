//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/web/control"
)

// journal writes records, as NDJSON or as server-sent events: those that are kept, and
// with follow=true those to come, until the caller goes or the server closes. A caller
// that does not read holds up itself alone: what is no longer kept meanwhile it misses.
func (s *Server) journal(w http.ResponseWriter, r *http.Request, in control.ReadJournal) error {
	from, err := s.resumed(r, uint64(in.Since))
	if err != nil {
		return err
	}
	w.Header().Set(RunHeader, s.id)
	sub := s.host.Journal().Subscribe(from)
	defer sub.Close()
	defer s.cutAfterClose(w)()
	if wantsEvents(r) {
		s.events(w, r, sub, in.Follow)
		return nil
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	out := &lines{w: w, flush: http.NewResponseController(w)}
	for out.err == nil {
		rec, missed, ok := sub.TryNext()
		if ok {
			out.write(rec, missed)
			continue
		}
		out.flushNow()
		if !in.Follow {
			return nil
		}
		ctx, cancel := s.untilClose(r)
		rec, missed, err := sub.Next(ctx)
		cancel()
		if err != nil {
			return nil
		}
		out.write(rec, missed)
	}
	return nil
}

// lastWords is how long a caller has to read the rest of its journal when the server
// closes.
const lastWords = time.Second

// cutAfterClose ends the answer of a caller that does not read when the server closes.
func (s *Server) cutAfterClose(w http.ResponseWriter) (undo func() bool) {
	return context.AfterFunc(s.streaming, func() {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(lastWords)) // over TCP there is one
	})
}

// untilClose is the request's context, ended also by Close.
func (s *Server) untilClose(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(s.streaming, cancel)
	return ctx, func() { stop(); cancel() }
}

// lines writes NDJSON; err is the first failure.
type lines struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	buf   []byte
	err   error
}

func (l *lines) write(rec journal.Record, missed uint64) {
	l.buf = l.buf[:0]
	if missed > 0 {
		l.buf = append(strconv.AppendUint(append(l.buf, `{"missed":`...), missed, 10), "}\n"...)
	}
	l.buf = append(rec.AppendLine(l.buf), '\n')
	_, l.err = l.w.Write(l.buf)
}

func (l *lines) flushNow() {
	if err := l.flush.Flush(); err != nil && l.err == nil {
		l.err = err
	}
}

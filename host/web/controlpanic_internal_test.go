package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/ops"
)

// failing is an operation that panics.
type failing struct {
	ops.Op[ops.None] `route:"GET /queues" clock:"own"`
}

func (failing) Do(context.Context, *ops.Env) (ops.None, error) { panic("boom") }

// An operation that panics is refused with 500, which the log explains.
func TestOperationPanics(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := &Server{opts: Options{Logger: zerolog.New(&log)}}
	r := httptest.NewRequest("GET", "/admin/redeliver/queues", http.NoBody)
	w := httptest.NewRecorder()
	s.operation(ops.Of(failing{}))(w, r)
	if body := w.Body.String(); w.Code != http.StatusInternalServerError || !strings.Contains(body, "the host has failed to answer: boom") || !strings.Contains(body, "this is a fault of redeliver") {
		t.Errorf("%d %s", w.Code, body)
	}
	if got := log.String(); !strings.Contains(got, "GET /admin/redeliver/queues") || !strings.Contains(got, "controlpanic_internal_test.go") {
		t.Errorf("log: %s", got)
	}
}

// torn is an operation whose answer panics after its first words.
type torn struct {
	ops.Op[ops.Stream] `route:"GET /torn" clock:"own"`

	Words string `query:"words"`
}

func (in torn) Do(context.Context, *ops.Env) (ops.Stream, error) {
	return ops.Stream{Header: http.Header{"X-Own": {"set"}}, Write: func(w io.Writer) error {
		if in.Words != "" {
			_, _ = io.WriteString(w, in.Words)
		}
		panic("boom")
	}}, nil
}

// An answer that panics is refused while nothing of it is written, and cut when something is.
// The log explains both.
func TestAnswerPanics(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]any{"": nil, "?words=begun": http.ErrAbortHandler} {
		var log strings.Builder
		s := &Server{opts: Options{Logger: zerolog.New(&log)}}
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if cause := recover(); cause != want {
					t.Errorf("%q: recovered %v, want %v", words, cause, want)
				}
			}()
			s.operation(ops.Of(torn{}))(w, httptest.NewRequest("GET", "/admin/redeliver/torn"+words, http.NoBody))
		}()
		if refused := w.Code == http.StatusInternalServerError; refused != (want == nil) {
			t.Errorf("%q: %d %s", words, w.Code, w.Body)
		}
		if !strings.Contains(log.String(), "controlpanic_internal_test.go") {
			t.Errorf("%q: log: %s", words, log.String())
		}
	}
}

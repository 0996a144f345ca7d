package web

import (
	"context"
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

package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// An operation that panics is refused with 500, which the log explains. One that ends its
// own connection does so.
func TestOperationPanics(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := &Server{opts: Options{Logger: zerolog.New(&log)}}
	r := httptest.NewRequest("GET", "/admin/redeliver/queues", http.NoBody)
	w := httptest.NewRecorder()
	writeRefusal(w, "", s.served(r, func() error { panic("boom") }))
	if body := w.Body.String(); w.Code != http.StatusInternalServerError || !strings.Contains(body, "the host has failed to answer: boom") || !strings.Contains(body, "this is a fault of redeliver") {
		t.Errorf("%d %s", w.Code, body)
	}
	if got := log.String(); !strings.Contains(got, "GET /admin/redeliver/queues") || !strings.Contains(got, "controlpanic_internal_test.go") {
		t.Errorf("log: %s", got)
	}
	func() {
		defer func() {
			if cause := recover(); cause != http.ErrAbortHandler {
				t.Errorf("recovered %v", cause)
			}
		}()
		_ = s.served(r, func() error { panic(http.ErrAbortHandler) })
		t.Error("the end of a connection was answered")
	}()
	wrong := errors.New("wrong")
	if err := s.served(r, func() error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}

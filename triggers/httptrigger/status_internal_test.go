package httptrigger

import (
	"io"
	"net/http"
	"testing"

	"github.com/redeliver/redeliver/bindings"
)

// An answer that goes out as it comes has its status, too.
func TestStatusOfAStream(t *testing.T) {
	t.Parallel()
	s := &statusOf{HTTPStream: discarded{}}
	if out := s.Answer(http.StatusTeapot, nil); out == nil || s.status != http.StatusTeapot {
		t.Errorf("the answer is %v, its status %d", out, s.status)
	}
}

type discarded struct{ bindings.HTTPStream }

func (discarded) Answer(int, http.Header) bindings.HTTPAnswer { return nothing{io.Discard} }

type nothing struct{ io.Writer }

func (nothing) Trailer(http.Header) {}
func (nothing) Close() error        { return nil }

package azure_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// scripted answers every request with the same.
type scripted struct {
	status   int
	code     string
	err      error
	requests []*http.Request
	bodies   []string
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	s.requests, s.bodies = append(s.requests, r), append(s.bodies, body)
	if s.err != nil {
		return nil, s.err
	}
	h := http.Header{"X-Ms-Popreceipt": {"next"}, "X-Ms-Time-Next-Visible": {"Wed, 02 Jan 2030 03:04:05 GMT"}}
	if s.code != "" {
		h.Set("X-Ms-Error-Code", s.code)
	}
	return &http.Response{StatusCode: s.status, Header: h, Body: http.NoBody, Request: r}, nil
}

func (s *scripted) options() *azure.Options {
	return &azure.Options{HTTPClient: &http.Client{Transport: s}, Retries: -1}
}

func (s *scripted) account(t *testing.T) *azure.QueueAccount {
	t.Helper()
	account, err := azure.NewQueueAccount("QueueEndpoint=http://127.0.0.1:1/acme;SharedAccessSignature=sv=1&sig=secret", s.options())
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// The service's codes are conditions of package bindings, whatever their status
// (S-6: both 400 and 404 are said of a wrong receipt).
func TestCodesAreConditions(t *testing.T) {
	t.Parallel()
	all := []error{bindings.ErrNotFound, bindings.ErrMessageNotFound, queue.ErrPopReceiptMismatch, bindings.ErrBeingDeleted,
		bindings.ErrTooLarge, bindings.ErrOutOfRange, bindings.ErrInvalidName, bindings.ErrUnavailable}
	for _, row := range []struct {
		status int
		code   string
		want   error
	}{
		{404, "QueueNotFound", bindings.ErrNotFound},
		{404, "MessageNotFound", bindings.ErrMessageNotFound},
		{400, "PopReceiptMismatch", queue.ErrPopReceiptMismatch},
		{404, "PopReceiptMismatch", queue.ErrPopReceiptMismatch},
		{409, "QueueBeingDeleted", bindings.ErrBeingDeleted},
		{413, "RequestBodyTooLarge", bindings.ErrTooLarge},
		{400, "MessageTooLarge", bindings.ErrTooLarge},
		{400, "OutOfRangeQueryParameterValue", bindings.ErrOutOfRange},
		{400, "InvalidQueryParameterValue", bindings.ErrOutOfRange},
		{400, "InvalidResourceName", bindings.ErrInvalidName},
		{400, "OutOfRangeInput", bindings.ErrInvalidName},
		{500, "InternalError", bindings.ErrUnavailable},
		{503, "ServerBusy", bindings.ErrUnavailable},
		{502, "", bindings.ErrUnavailable},
		{403, "AuthenticationFailed", nil},
		{404, "ResourceNotFound", nil},
	} {
		s := &scripted{status: row.status, code: row.code}
		err := s.account(t).Queue("orders").Delete(t.Context(), "id", "receipt")
		for _, condition := range all {
			if got, want := errors.Is(err, condition), condition == row.want; got != want {
				t.Errorf("%d %s: errors.Is(%v, %v) = %v", row.status, row.code, err, condition, got)
			}
		}
		if r, ok := errors.AsType[*azcore.ResponseError](err); !ok || r.StatusCode != row.status {
			t.Errorf("%d %s: the SDK's error is not in the chain of %v", row.status, row.code, err)
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d %s: %q shows a signature, or more than a line", row.status, row.code, err)
		}
	}
}

func TestTransportFailureShowsNoSignature(t *testing.T) {
	t.Parallel()
	s := &scripted{err: errors.New("no route")}
	_, err := s.account(t).Queue("orders").Put(t.Context(), "a", nil)
	if want := `queue "orders": POST http://127.0.0.1:1/acme/orders/messages: no route`; err == nil || err.Error() != want {
		t.Errorf("Put = %v, want %s", err, want)
	}
}

func TestCreateOfAQueueWithOtherMetadataIsNoError(t *testing.T) {
	t.Parallel()
	s := &scripted{status: 409, code: "QueueAlreadyExists"}
	if err := s.account(t).Queue("orders").Create(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	s := &scripted{status: 503}
	s.account(t).Queue("orders").Clear(t.Context())
	if len(s.requests) != 1 {
		t.Errorf("%d requests without retries, want 1", len(s.requests))
	}
}

// An update that is not to change the text sends none; one that is sends it raw
// (S-5).
func TestUpdateSendsTheRawTextOrNothing(t *testing.T) {
	t.Parallel()
	s := &scripted{status: 204}
	q := s.account(t).Queue("orders")
	raw, empty := " bm90IGRlY29kZWQ=\n", ""
	const declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	for _, row := range []struct {
		text *string
		want string
	}{
		{nil, ""},
		{&raw, declaration + "<QueueMessage><MessageText> bm90IGRlY29kZWQ=&#xA;</MessageText></QueueMessage>"},
		{&empty, declaration + "<QueueMessage><MessageText></MessageText></QueueMessage>"},
	} {
		m, err := q.Update(t.Context(), "a/b?c", "re+ceipt=", row.text, 90*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if m.PopReceipt != "next" || !m.NextVisible.Equal(start) {
			t.Errorf("Update = %+v", m)
		}
		n := len(s.requests) - 1
		r := s.requests[n]
		if s.bodies[n] != row.want || r.ContentLength != int64(len(row.want)) {
			t.Errorf("body = %q of length %d, want %q", s.bodies[n], r.ContentLength, row.want)
		}
		if r.URL.EscapedPath() != "/acme/orders/messages/a%2Fb%3Fc" || r.URL.Query().Get("popreceipt") != "re+ceipt=" || r.URL.Query().Get("visibilitytimeout") != "90" {
			t.Errorf("address = %s", r.URL)
		}
	}
}

func TestTextsThatXMLCannotHold(t *testing.T) {
	t.Parallel()
	s := &scripted{status: 201}
	q := s.account(t).Queue("orders")
	for _, text := range []string{"\x00", "a\x1f", "\xff", "\ufffe", "a\xc3"} {
		if _, err := q.Put(t.Context(), text, nil); err == nil || !strings.Contains(err.Error(), "base64") {
			t.Errorf("Put(%q) = %v", text, err)
		}
		if _, err := q.Update(t.Context(), "id", "r", &text, 0); err == nil {
			t.Errorf("Update to %q succeeded", text)
		}
	}
	if len(s.requests) != 0 {
		t.Errorf("%d requests sent", len(s.requests))
	}
}

// A signature is enough to connect; what it does not allow is refused by the
// service.
func TestConnectionWithASignature(t *testing.T) {
	t.Parallel()
	d := openServer(t, clock.NewVirtual(start, nil), nil)
	owner := connect(t, d.connectionString(), -1)
	if err := owner.Queue("orders").Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	sas := accountSAS(t, d, "rau")
	account := connect(t, "QueueEndpoint="+d.server.QueueURL()+"/"+rest.DevAccount+";SharedAccessSignature="+sas, -1)
	q := account.Queue("orders")
	if _, err := q.Put(t.Context(), "a", nil); err != nil {
		t.Errorf("Put: %v", err)
	}
	_, err := q.Receive(t.Context(), 1, time.Minute)
	if e, ok := errors.AsType[*azure.ServiceError](err); !ok || e.Code != "AuthorizationPermissionMismatch" || e.Status != 403 {
		t.Errorf("Receive = %v, want AuthorizationPermissionMismatch", err)
	}
}

func TestFaultsOfTheServiceArriveAsSuch(t *testing.T) {
	t.Parallel()
	fault := map[string]error{"Put": bindings.ErrUnavailable, "Delete": rest.ErrCut, "Receive": &rest.Error{Status: 409, Code: "QueueBeingDeleted"}}
	d := openServer(t, clock.System(), &storage.Options{Fault: func(p storage.FaultPoint) error { return fault[p.Op] }})
	q := connect(t, d.connectionString(), -1).Queue("orders")
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Put(t.Context(), "a", nil); !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("Put = %v", err)
	}
	if _, err := q.Receive(t.Context(), 1, time.Minute); !errors.Is(err, bindings.ErrBeingDeleted) {
		t.Errorf("Receive = %v", err)
	}
	err := q.Delete(t.Context(), "id", "r")
	if _, refused := errors.AsType[*azure.ServiceError](err); err == nil || refused {
		t.Errorf("Delete over a cut connection = %v", err)
	}
}

func TestEndedContextIsTheError(t *testing.T) {
	t.Parallel()
	s := &scripted{status: 204}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	account := s.account(t)
	if _, err := account.Queues(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Queues = %v", err)
	}
	if err := account.Queue("orders").Clear(ctx); err != context.Canceled {
		t.Errorf("Clear = %v", err)
	}
}

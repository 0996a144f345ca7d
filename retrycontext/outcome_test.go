package retrycontext_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

func TestDeclaredOutcome(t *testing.T) {
	t.Parallel()
	after := func(err error) error { return retrycontext.RetryAfter(err, time.Minute) }
	permanent := retrycontext.Declared{Kind: retrycontext.KindPermanent}
	now := retrycontext.Declared{Kind: retrycontext.KindRetryNow}
	minute := retrycontext.Declared{Kind: retrycontext.KindRetryAfter, Delay: time.Minute}
	for _, row := range []struct {
		name string
		err  error
		want retrycontext.Declared
	}{
		{"none", nil, retrycontext.Declared{}},
		{"plain", errBoom, retrycontext.Declared{}},
		{"permanent", retrycontext.Permanent(errBoom), permanent},
		{"retry-now", retrycontext.RetryNow(errBoom), now},
		{"retry-after", after(errBoom), minute},
		{"wrapped", fmt.Errorf("a: %w", fmt.Errorf("b: %w", after(errBoom))), minute},
		{"joined", errors.Join(errBoom, retrycontext.Permanent(errBoom)), permanent},
		{"joined-first", errors.Join(retrycontext.RetryNow(errBoom), retrycontext.Permanent(errBoom)), now},
		{"innermost", retrycontext.Permanent(fmt.Errorf("a: %w", retrycontext.RetryNow(errBoom))), now},
		{"innermost-of-three", after(retrycontext.RetryNow(retrycontext.Permanent(errBoom))), permanent},
		{"innermost-joined", retrycontext.RetryNow(errors.Join(errBoom, fmt.Errorf("a: %w", after(errBoom)))), minute},
		{"after-negative", retrycontext.RetryAfter(errBoom, -1), retrycontext.Declared{Kind: retrycontext.KindRetryAfter}},
		{"after-49-days", retrycontext.RetryAfter(errBoom, retrycontext.MaxDelay),
			retrycontext.Declared{Kind: retrycontext.KindRetryAfter, Delay: retrycontext.MaxDelay}},
		{"after-above-49-days", retrycontext.RetryAfter(errBoom, retrycontext.MaxDelay+1),
			retrycontext.Declared{Kind: retrycontext.KindRetryAfter, Delay: retrycontext.MaxDelay}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, ok := retrycontext.DeclaredOutcome(row.err)
			if got != row.want || ok != (row.want.Kind != 0) {
				t.Errorf("DeclaredOutcome() = %+v, %v, want %+v", got, ok, row.want)
			}
		})
	}
}

func TestDeclaredKeepsError(t *testing.T) {
	t.Parallel()
	for _, declare := range []func(error) error{retrycontext.Permanent, retrycontext.RetryNow} {
		if err := declare(nil); err != nil {
			t.Errorf("a declared nil is %v", err)
		}
		if err := declare(errBoom); err.Error() != "boom" || !errors.Is(err, errBoom) {
			t.Errorf("a declared error reads %q", err)
		}
	}
	if err := retrycontext.RetryAfter(nil, time.Hour); err != nil {
		t.Errorf("a declared nil is %v", err)
	}
	if got := fmt.Sprint(retrycontext.KindPermanent, retrycontext.KindRetryNow, retrycontext.KindRetryAfter,
		retrycontext.DeclaredKind(9)); got != "permanent retryNow retryAfter DeclaredKind(9)" {
		t.Errorf("kinds read %s", got)
	}
}

func TestIsTransient(t *testing.T) {
	t.Parallel()
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
	}
	get := func(err error) error { return &url.Error{Op: "Get", URL: "http://localhost", Err: err} }
	for _, row := range []struct {
		name string
		err  error
		want bool
	}{
		{"timeout/context", context.DeadlineExceeded, true},
		{"timeout/os", os.ErrDeadlineExceeded, true},
		{"timeout/errno", dial(syscall.ETIMEDOUT), true},
		{"timeout/dns", &net.DNSError{Err: "slow", IsTimeout: true}, true},
		{"timeout/hidden", get(fmt.Errorf("a: %w", os.ErrDeadlineExceeded)), true},
		{"refused", get(dial(syscall.ECONNREFUSED)), true},
		{"reset", fmt.Errorf("read orders: %w", dial(syscall.ECONNRESET)), true},
		{"closed/pipe", dial(syscall.EPIPE), true},
		{"closed/here", net.ErrClosed, true},
		{"closed/eof-in-request", get(io.EOF), true},
		{"closed/cut-short", io.ErrUnexpectedEOF, true},
		{"cancelled", get(context.Canceled), true},
		{"joined", errors.Join(errBoom, dial(syscall.ECONNREFUSED)), true},
		{"declared", retrycontext.RetryNow(context.Canceled), true},

		{"not/nil", nil, false},
		{"not/plain", errBoom, false},
		{"not/eof", io.EOF, false},
		{"not/missing-file", &os.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, false},
		{"not/unknown-name", &net.DNSError{Err: "no such host", IsNotFound: true}, false},
		{"not/unreachable", dial(syscall.EHOSTUNREACH), false},
		{"not/json", json.Unmarshal([]byte("{"), new(int)), false},
		{"not/bad-url", get(errors.New("unsupported protocol scheme")), false},
		{"not/permission", os.ErrPermission, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := retrycontext.IsTransient(row.err); got != row.want {
				t.Errorf("IsTransient(%v) = %v, want %v", row.err, got, row.want)
			}
		})
	}
}

func TestException(t *testing.T) {
	t.Parallel()
	if got := retrycontext.NewException(nil); got != nil {
		t.Errorf("NewException(nil) = %+v", got)
	}
	inner := &os.PathError{Op: "open", Path: "orders.json", Err: syscall.ENOENT}
	err := fmt.Errorf("load: %w", retrycontext.RetryNow(errors.Join(inner, errBoom)))
	got := retrycontext.NewException(err)
	if got.Type != "*fmt.wrapError" {
		t.Errorf("Type = %q, want *fmt.wrapError", got.Type)
	}
	for _, want := range []string{"*fmt.wrapError: load: ", "*fs.PathError: open orders.json", "syscall.Errno: ",
		"*errors.errorString: boom", " ---> "} {
		if !strings.Contains(got.Message, want) {
			t.Errorf("message %q does not contain %q", got.Message, want)
		}
	}
	if strings.Contains(got.Message, "declaration") {
		t.Errorf("message %q shows how outcomes are declared", got.Message)
	}
}

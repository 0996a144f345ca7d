package azure_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/listen/listentest"
)

// timedOut is a fault of the network that says so.
type timedOut struct{}

func (timedOut) Error() string   { return "timed out" }
func (timedOut) Timeout() bool   { return true }
func (timedOut) Temporary() bool { return true }

// Every failure on the way to the storage is ErrUnreachable, from any source; an
// untrusted certificate is not, because waiting does not help.
func TestFaultsOfTheTransportAreUnreachable(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err  error
		want bool
	}{
		{&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, true},
		{&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, true},
		{&net.DNSError{Err: "no such host", Name: "acme.invalid", IsNotFound: true}, true},
		{io.EOF, true},
		{io.ErrUnexpectedEOF, true},
		{timedOut{}, true},
		{context.DeadlineExceeded, true},
		{&tls.CertificateVerificationError{Err: errors.New("unknown authority")}, false},
	} {
		s := &scripted{err: row.err}
		account := s.account(t)
		_, queueErr := account.Queue("orders").Receive(t.Context(), 1, time.Minute)
		blobs, err := azure.NewBlobAccount("BlobEndpoint=http://127.0.0.1:1/acme;SharedAccessSignature=sv=1&sig=secret", s.options())
		if err != nil {
			t.Fatal(err)
		}
		_, blobErr := blobs.Container("uploads").Blob("b").RenewLease(t.Context(), "id", nil)
		for client, err := range map[string]error{"queue": queueErr, "blob": blobErr} {
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s over %v = %v", client, row.err, err)
			}
			if got := errors.Is(err, bindings.ErrUnreachable) && errors.Is(err, bindings.ErrUnavailable); got != row.want {
				t.Errorf("%s over %v = %v, which is ErrUnreachable: %v, want %v", client, row.err, err, got, row.want)
			}
		}
	}
}

// Nobody listens: so it is for the messaging clients too.
func TestNamespaceThatIsNotThereIsUnreachable(t *testing.T) {
	t.Parallel()
	connection := busConnectionString("127.0.0.1:" + strconv.Itoa(listentest.FreePort()))
	bus, err := azure.NewServiceBus(connection, &azure.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close(context.Background())
	hubs, err := azure.NewEventHubs(connection, &azure.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer hubs.Close(context.Background())
	for what, call := range map[string]func(ctx context.Context) error{
		"Receiver": func(ctx context.Context) error { _, err := bus.Receiver(ctx, "q", nil); return err },
		"AcceptSession": func(ctx context.Context) error {
			_, err := bus.AcceptSession(ctx, "q", &servicebus.SessionOptions{Wait: messaging.Forever})
			return err
		},
		"Send": func(ctx context.Context) error { return bus.Send(ctx, "q", &servicebus.Message{}) },
		"Hub":  func(ctx context.Context) error { _, err := hubs.Hub(ctx, "h"); return err },
		"Partition": func(ctx context.Context) error {
			_, err := hubs.Partition(ctx, "h", "0")
			return err
		},
		"SendEvents": func(ctx context.Context) error { return hubs.SendEvents(ctx, "h", nil, &eventhubs.Event{}) },
	} {
		if err := call(t.Context()); !errors.Is(err, bindings.ErrUnreachable) {
			t.Errorf("%s = %s, want ErrUnreachable", what, fmt.Sprint(err))
		}
	}
}

package amqp_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"
	"github.com/coder/websocket"

	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	"github.com/redeliver/redeliver/host/listen"
)

// ports are where a server listens.
type ports struct {
	*listen.Server
	plain, secure string
}

// started starts a server with both ports and a handler for HTTP.
func started(t *testing.T) ports {
	t.Helper()
	borrowed := httptest.NewTLSServer(nil)
	config := &tls.Config{Certificates: borrowed.TLS.Certificates}
	borrowed.Close()
	broker := amqp.NewServer(newMemory(), nil)
	s := ports{Server: &listen.Server{Other: broker, TLS: config, Handler: broker.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "handled ", r.Method, " ", r.URL.Path, ", TLS ", r.TLS != nil)
	}))}}
	for secure, at := range map[bool]*string{false: &s.plain, true: &s.secure} {
		addr, err := s.Listen(listen.Port{TLS: secure})
		if err != nil {
			t.Fatal(err)
		}
		*at = addr.String()
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// talk sends a message and receives it.
func talk(t *testing.T, nc net.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := goamqp.NewConn(ctx, nc, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := session.NewSender(ctx, t.Name(), nil)
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 100_000)
	if err := sender.Send(ctx, goamqp.NewMessage(body), nil); err != nil {
		t.Fatal(err)
	}
	receiver, err := session.NewReceiver(ctx, t.Name(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := receiver.Receive(ctx, nil); err != nil || len(m.GetData()) != len(body) {
		t.Fatalf("Receive = %v", err)
	}
}

// TestListeners: what each port speaks.
func TestListeners(t *testing.T) {
	t.Parallel()
	s := started(t)
	insecure := &tls.Config{InsecureSkipVerify: true}
	dial := func(t *testing.T, address string) net.Conn {
		t.Helper()
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		return nc
	}
	t.Run("AMQP", func(t *testing.T) { talk(t, dial(t, s.plain)) })
	t.Run("AMQP over TLS", func(t *testing.T) { talk(t, tls.Client(dial(t, s.secure), insecure)) })
	t.Run("AMQP over TLS on the plain port", func(t *testing.T) { talk(t, tls.Client(dial(t, s.plain), insecure)) })
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: insecure, DisableKeepAlives: true}}
	for name, url := range map[string]string{"HTTP": "http://" + s.plain, "HTTPS": "https://" + s.secure, "HTTPS on the plain port": "https://" + s.plain} {
		t.Run(name, func(t *testing.T) {
			for _, method := range []string{"GET", "PUT", "POST", "DELETE"} {
				r, _ := http.NewRequest(method, url+"/queue", nil)
				resp, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				b, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if got, want := string(b), fmt.Sprint("handled ", method, " /queue, TLS ", name != "HTTP"); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	for name, url := range map[string]string{"WebSocket": "ws://" + s.plain, "WebSocket over TLS": "wss://" + s.secure, "WebSocket by the standard": "ws://" + s.plain} {
		t.Run(name, func(t *testing.T) {
			protocol := "AMQPWSB10"
			if name == "WebSocket by the standard" {
				protocol = "amqp"
			}
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			c, _, err := websocket.Dial(ctx, url+"/$servicebus/websocket", &websocket.DialOptions{Subprotocols: []string{protocol}, HTTPClient: client})
			if err != nil {
				t.Fatal(err)
			}
			talk(t, websocket.NetConn(ctx, c, websocket.MessageBinary))
		})
	}
	t.Run("WebSocket without the sub-protocol", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		c, _, err := websocket.Dial(ctx, "ws://"+s.plain+"/$servicebus/websocket", &websocket.DialOptions{HTTPClient: client})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Read(ctx); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Errorf("Read = %v, want a policy violation", err)
		}
		c.CloseNow()
	})
}

// TestCloseStuck: a client that takes nothing does not hold Close up for long.
func TestCloseStuck(t *testing.T) {
	t.Parallel()
	m := newMemory()
	for range 100 {
		m.put("q", make([]byte, 100_000))
	}
	near, far := net.Pipe()
	defer near.Close()
	server := amqp.NewServer(m, nil)
	var serving sync.WaitGroup
	serving.Go(func() { server.ServeConn(far) })
	hello := wire.ProtocolAMQP
	for _, p := range []wire.Performative{&wire.Open{ContainerID: "c"}, begin(), attachReceiver(0, "q"), credit(0, 100)} {
		hello += string(wire.AppendFrame(nil, wire.FrameAMQP, 0, p))
	}
	if _, err := io.WriteString(near, hello); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	server.Close()
	serving.Wait()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("Close took %v", took)
	}
	m.wait("source q closed vanished=true")
}

// TestCloseWaiting: connections that say nothing do not hold Close up.
func TestCloseWaiting(t *testing.T) {
	t.Parallel()
	s := started(t)
	for _, address := range []string{s.plain, s.secure} {
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
	}
	half, err := net.Dial("tcp", s.plain)
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	io.WriteString(half, "AMQP")
	s.Close()
	if b, _ := io.ReadAll(half); len(b) != 0 {
		t.Errorf("after Close: %q", b)
	}
}

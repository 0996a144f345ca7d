//clock:outside the server waits for sockets; requests enter the clock one by one

package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/listen"
)

const (
	headerTimeout = 30 * time.Second // for a client to send its headers
	idleTimeout   = 10 * time.Minute // an idle connection is kept; SDKs pool them
	closeGrace    = 5 * time.Second  // Close waits for requests being served
)

// Options says whom a server serves and where. A nil *Options serves nobody.
type Options struct {
	// Accounts is the table of accounts. Names are unique.
	Accounts []Account

	// Address is the IP address to listen on; empty for 127.0.0.1.
	Address string

	// QueuePort is the port of the Queue service: 0 for any free one (the usual
	// one is DefaultQueuePort), negative for no such door.
	QueuePort int

	// BlobPort is the port of the Blob service, likewise (the usual one is
	// DefaultBlobPort). The door opens if an account has blobs; then all must.
	BlobPort int

	// TLS, if not nil, makes all doors speak HTTPS only.
	TLS *tls.Config

	// StrictDates refuses shared-key requests whose date is missing or more than
	// 15 minutes off the clock, as the service in the cloud does. By default any
	// date will do: a virtual clock may be years away.
	StrictDates bool

	// Guard says which requests are taken from browsers, besides those that the CORS
	// rules of a service take; nil is the zero Guard.
	Guard *listen.Guard

	// Logger receives what goes wrong below HTTP. The zero value is silent.
	Logger zerolog.Logger
}

// Server is a set of doors. Make one with [NewServer], run it with Start and
// Close.
type Server struct {
	opts     Options
	accounts map[string]*account
	doors    []*front
	serving  sync.WaitGroup
}

// NewServer returns a server that listens to nothing yet. Requests enter clk by
// its Inside. It fails when the table of accounts is not as it should be.
func NewServer(clk clock.Clock, opts *Options) (*Server, error) {
	s := &Server{accounts: map[string]*account{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Address == "" {
		s.opts.Address = "127.0.0.1"
	}
	for _, a := range s.opts.Accounts {
		served, err := a.served()
		if err != nil {
			return nil, err
		}
		if s.accounts[a.Name] != nil {
			return nil, fmt.Errorf("account %q: given twice", a.Name)
		}
		if s.opts.QueuePort >= 0 && (a.Queues == nil || a.QueueAdmin == nil) {
			return nil, fmt.Errorf("account %q: has no queues to serve", a.Name)
		}
		s.accounts[a.Name] = served
	}
	blobs := s.opts.BlobPort >= 0 && slices.ContainsFunc(s.opts.Accounts, func(a Account) bool { return a.Blobs != nil })
	for _, a := range s.opts.Accounts {
		if blobs && a.Blobs == nil {
			return nil, fmt.Errorf("account %q: has no blobs to serve", a.Name)
		}
	}
	if s.opts.QueuePort >= 0 {
		s.doors = append(s.doors, newDoor(clk, s, queueService(), s.opts.QueuePort))
	}
	if blobs {
		s.doors = append(s.doors, newDoor(clk, s, blobService(), s.opts.BlobPort))
	}
	return s, nil
}

// PortError says that the server cannot listen on a port.
type PortError struct {
	Service string // "queue" or "blob"
	Address string
	Port    int
	Err     error
}

func (e *PortError) Error() string {
	if e.Busy() {
		return fmt.Sprintf("%s service: port %d is in use: is Azurite or another emulator running?", e.Service, e.Port)
	}
	err := e.Err
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return fmt.Sprintf("%s service: cannot listen on %s: %v", e.Service, net.JoinHostPort(e.Address, strconv.Itoa(e.Port)), err)
}

// Unwrap returns the error of package net.
func (e *PortError) Unwrap() error { return e.Err }

// Busy reports whether another process has the port.
func (e *PortError) Busy() bool { return isBusy(e.Err) }

// Start listens on every port and serves in the background. It returns a
// *PortError, and listens to nothing, when one of the ports cannot be had.
func (s *Server) Start() error {
	for _, d := range s.doors {
		l, err := net.Listen("tcp", net.JoinHostPort(s.opts.Address, strconv.Itoa(d.port)))
		if err != nil {
			for _, d := range s.doors {
				if d.listener != nil {
					d.listener.Close()
					d.listener = nil
				}
			}
			return &PortError{Service: d.service.name, Address: s.opts.Address, Port: d.port, Err: err}
		}
		d.listener = l
	}
	for _, d := range s.doors {
		s.serve(d)
	}
	return nil
}

func (s *Server) serve(d *front) {
	d.http = &http.Server{
		Handler:           d,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          log.New(logWriter{s.opts.Logger, d.service.name}, "", 0),
		ConnContext:       withSpelling,
	}
	l := d.listener
	if s.opts.TLS != nil {
		config := s.opts.TLS.Clone()
		config.NextProtos = []string{"http/1.1"} // HTTP/2 would lose the case of metadata names
		l = tls.NewListener(l, config)
	}
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		if err := d.http.Serve(spellingListener{l}); !errors.Is(err, http.ErrServerClosed) {
			s.opts.Logger.Error().Err(err).Str("component", d.service.name+" rest").Msg("the HTTP server ended")
		}
	}()
}

// QueueURL is the address of the Queue service, e.g. "http://127.0.0.1:10001";
// an account is reached below it, by its name. It is empty before Start and
// without that door.
func (s *Server) QueueURL() string { return s.url("queue") }

// BlobURL is the address of the Blob service, likewise.
func (s *Server) BlobURL() string { return s.url("blob") }

func (s *Server) url(service string) string {
	for _, d := range s.doors {
		if d.service.name == service && d.listener != nil {
			return d.scheme() + "://" + d.listener.Addr().String()
		}
	}
	return ""
}

// Close stops listening and waits for requests that are being served, at most
// 5 s; then it cuts them.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	var errs []error
	for _, d := range s.doors {
		if d.http == nil {
			continue
		}
		err := d.http.Shutdown(ctx)
		d.pins.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			err = d.http.Close()
		}
		errs = append(errs, err)
	}
	s.serving.Wait()
	return errors.Join(errs...)
}

// logWriter turns lines of net/http into log lines.
type logWriter struct {
	log     zerolog.Logger
	service string
}

func (w logWriter) Write(p []byte) (int, error) {
	w.log.Debug().Str("component", w.service+" rest").Msg(strings.TrimSpace(string(p)))
	return len(p), nil
}

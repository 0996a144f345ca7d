//clock:outside the server waits for sockets; requests enter the clock one by one

package rest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/listen"
)

// Options says whom a server serves and where. A nil *Options serves no account.
type Options struct {
	// Accounts is the table of accounts. Names are unique.
	Accounts []Account

	// Address is the IP address to listen on; empty for 127.0.0.1.
	Address string

	// QueuePort is the port of the Queue service: 0 for any free one (the usual
	// one is DefaultQueuePort), negative for none.
	QueuePort int

	// BlobPort is the port of the Blob service, likewise (the usual one is
	// DefaultBlobPort). It opens if an account has blobs; then all must.
	BlobPort int

	// TablePort is the port of the Table service, likewise (the usual one is
	// DefaultTablePort). It opens if an account has tables; then all must.
	TablePort int

	// TLS, if not nil, makes all ports speak HTTPS only.
	TLS *tls.Config

	// StrictDates refuses shared-key requests whose date is missing or more than
	// 15 minutes off the clock, as the service in the cloud does. By default any
	// date will do: a virtual clock may be years away.
	StrictDates bool

	// Guard says which requests are taken from browsers, besides the requests that
	// the CORS rules of a service admit; nil is the zero Guard.
	Guard *listen.Guard

	// Logger receives what goes wrong below HTTP, and once each header that has no effect.
	// The zero value is silent.
	Logger zerolog.Logger
}

// Server serves storage services, each at a port of its own. Make one with [NewServer], run it with Start and
// Close.
type Server struct {
	opts     Options
	accounts map[string]*Stored
	fronts   []*front
	ignored  sync.Map // headers without an effect that were told of
}

// NewServer returns a server of services (package served has all) that listens to nothing yet. Requests enter clk by
// its Inside. It fails when the table of accounts is not as it should be.
func NewServer(clk clock.Clock, opts *Options, services ...*Service) (*Server, error) {
	s := &Server{accounts: map[string]*Stored{}}
	if opts != nil {
		s.opts = *opts
	}
	for _, a := range s.opts.Accounts {
		served, err := a.served()
		if err != nil {
			return nil, err
		}
		if s.accounts[a.Name] != nil {
			return nil, fmt.Errorf("account %q: given twice", a.Name)
		}
		s.accounts[a.Name] = served
	}
	for _, of := range services {
		if of.Port(&s.opts) < 0 || of.Optional && !slices.ContainsFunc(s.opts.Accounts, func(a Account) bool { return of.Serves(&a) }) {
			continue
		}
		for _, a := range s.opts.Accounts {
			if !of.Serves(&a) {
				return nil, fmt.Errorf("account %q: has no %ss to serve", a.Name, of.Name)
			}
		}
		s.fronts = append(s.fronts, newFront(clk, s, of, of.Port(&s.opts)))
	}
	return s, nil
}

// Start listens on every port and serves in the background. It returns a
// *listen.PortError, and listens to nothing, when one of the ports cannot be had.
func (s *Server) Start() error {
	for _, d := range s.fronts {
		addr, err := d.http.Listen(listen.Port{
			Service: d.service.Name + " service", Rivals: "Azurite or another emulator",
			Address: s.opts.Address, Number: d.port, TLS: s.opts.TLS != nil,
		})
		if err != nil {
			s.Close()
			s.fronts = nil
			return err
		}
		d.addr = listen.Near(addr)
	}
	return nil
}

// QueueURL is the address of the Queue service, e.g. "http://127.0.0.1:10001";
// an account is reached below it, by its name. It is empty before Start and
// without that port.
func (s *Server) QueueURL() string { return s.URL("queue") }

// BlobURL is the address of the Blob service, likewise.
func (s *Server) BlobURL() string { return s.URL("blob") }

// TableURL is the address of the Table service, likewise.
func (s *Server) TableURL() string { return s.URL("table") }

// URL is the address of a service, by its name.
func (s *Server) URL(service string) string {
	for _, d := range s.fronts {
		if d.service.Name == service && d.addr != "" {
			return d.scheme() + "://" + d.addr
		}
	}
	return ""
}

// Close stops listening and waits for requests that are being served, at most
// 5 s; then it cuts them.
func (s *Server) Close() error {
	errs := make([]error, len(s.fronts))
	var closing sync.WaitGroup
	for i, d := range s.fronts {
		closing.Go(func() {
			errs[i] = d.http.Close()
			d.pins.Close()
		})
	}
	closing.Wait()
	return errors.Join(errs...)
}

//clock:outside the callers of a kit are of the real world

package kit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/worker"
)

// Number is the number of the protocol. Within a number members and operations are only
// added: a kit ignores members of answers that it does not know, and a member of a request
// that this program does not know is refused by name.
const Number = 1

// Options changes what a Kit is.
type Options struct {
	Version string // of the program
	// Processes is how many worker processes of apps are kept for the hosts that come later;
	// 0 is 8.
	Processes int
}

// Kit is the server of one test run.
type Kit struct {
	opts   Options
	token  string
	server *listen.Server
	addr   net.Addr
	port   *worker.Port
	pool   *worker.Pool

	mu     sync.Mutex // guards:
	hosts  map[string]*Host
	last   int // number of the host that was made last
	closed bool
}

// Announcement is the one line that a kit prints, first, as JSON.
type Announcement struct {
	Kit     int    `json:"kit"` // Number
	Version string `json:"version"`
	Address string `json:"address"` // of the protocol: "http://127.0.0.1:43125"
	Worker  string `json:"worker"`  // where attached workers connect: "127.0.0.1:43126"
	Token   string `json:"token"`   // of the header Authorization: Bearer
}

// New starts a kit on ports of this machine that the system chooses.
func New(o Options) (*Kit, error) {
	if o.Processes == 0 {
		o.Processes = 8
	}
	port, err := worker.OpenPort()
	if err != nil {
		return nil, err
	}
	k := &Kit{opts: o, token: rand.Text(), port: port, pool: worker.NewPool(o.Processes), hosts: map[string]*Host{}}
	k.server = &listen.Server{Handler: k.Handler(), Component: "kit"}
	if k.addr, err = k.server.Listen(listen.Port{Service: "kit"}); err != nil {
		port.Close()
		return nil, err
	}
	return k, nil
}

// Announcement is what a client has to know.
func (k *Kit) Announcement() Announcement {
	return Announcement{
		Kit: Number, Version: k.opts.Version, Address: "http://" + k.addr.String(), Worker: k.port.Addr().String(), Token: k.token,
	}
}

// Close ends all hosts, workers and processes, and the server.
func (k *Kit) Close() {
	k.mu.Lock()
	k.closed = true
	hosts := k.hosts
	k.hosts = map[string]*Host{}
	k.mu.Unlock()
	var ending sync.WaitGroup
	for _, h := range hosts {
		ending.Go(func() { h.end() })
	}
	ending.Wait()
	_ = k.server.Close()
	k.port.Close()
	k.pool.Close()
}

// errClosed means that the kit has ended.
var errClosed = errors.New("the kit has ended")

// add gives a host its ID.
func (k *Kit) add(h *Host) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errClosed
	}
	k.last++
	h.id = fmt.Sprintf("h%d", k.last)
	k.hosts[h.id] = h
	return nil
}

// host is the one of an ID; nil: there is none.
func (k *Kit) host(id string) *Host {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hosts[id]
}

// drop takes a host away, which its caller then ends; nil: there is none.
func (k *Kit) drop(id string) *Host {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.hosts[id]
	delete(k.hosts, id)
	return h
}

// allowed reports whether a request has the token.
func (k *Kit) allowed(r *http.Request) bool {
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && equal(got, k.token)
}

package listen

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Port says where a Server listens, and what for.
type Port struct {
	// Service names the service at the port for errors, as in "queue service"; it
	// may be empty. Rivals names programs that may have the port, as in "another
	// emulator".
	Service, Rivals string

	Address string // IP address; empty for 127.0.0.1
	Number  int    // 0 for any free one
	TLS     bool   // clients have to speak TLS; else they may, if the Server can
}

// Open listens, for who serves what comes there by other means than a Server. The error
// is a *PortError.
func (p Port) Open() (net.Listener, error) {
	p.Address = cmp.Or(p.Address, "127.0.0.1")
	l, err := net.Listen("tcp", net.JoinHostPort(p.Address, strconv.Itoa(p.Number)))
	if err != nil {
		return nil, &PortError{p, err}
	}
	return l, nil
}

// PortError says that a server cannot listen on a port.
type PortError struct {
	Port
	Err error // of package net
}

func (e *PortError) Error() string {
	text := e.cause()
	if e.Service != "" {
		text = e.Service + ": " + text
	}
	if e.Busy() && e.Rivals != "" {
		text += ": is " + e.Rivals + " running?"
	}
	return text
}

func (e *PortError) cause() string {
	if e.Busy() {
		return fmt.Sprintf("port %d is in use", e.Number)
	}
	err := e.Err
	if op, ok := errors.AsType[*net.OpError](err); ok { // what it says besides is said here
		err = op.Err
	}
	return fmt.Sprintf("cannot listen on %s: %v", net.JoinHostPort(e.Address, strconv.Itoa(e.Number)), err)
}

// Busy reports whether another process has the port.
func (e *PortError) Busy() bool { return isBusy(e.Err) }

// Unwrap returns the error of package net.
func (e *PortError) Unwrap() error { return e.Err }

// Near is the address at which programs on this machine reach a listener: loopback, where it
// listens at all interfaces.
func Near(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return addr.String()
}

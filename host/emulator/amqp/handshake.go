//clock:outside a connection lives in real time; nodes enter the clock

package amqp

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

const (
	handshakePatience = 30 * time.Second // for headers, SASL and open
	maxSASLFrame      = 4096
)

// mechanisms are the SASL mechanisms that we offer. .NET asks for MSSBCBS only,
// which is ANONYMOUS by another name.
var mechanisms = [...]wire.Symbol{"MSSBCBS", "PLAIN", "ANONYMOUS", "EXTERNAL"}

var errProtocol = errors.New("the client speaks no AMQP 1.0 that we do")

// handshake reads protocol headers and runs SASL, up to the frames. A client
// may send all of it at once. The deadline that it sets holds until the open.
func (c *conn) handshake() error {
	c.space = make([]byte, readBuffer)
	c.in = c.space[:0]
	c.nc.SetReadDeadline(time.Now().Add(handshakePatience))
	if c.shut.Load() {
		return errShutDown()
	}
	header, err := c.header()
	if err != nil {
		return err
	}
	if header == wire.ProtocolSASL {
		if err := c.sasl(); err != nil {
			return err
		}
		if header, err = c.header(); err != nil {
			return err
		}
		if header != wire.ProtocolAMQP {
			return c.wrongHeader(header, wire.ProtocolAMQP)
		}
	}
	if header != wire.ProtocolAMQP {
		return c.wrongHeader(header, wire.ProtocolSASL)
	}
	c.mu.Lock()
	c.out = append(c.out, wire.ProtocolAMQP...)
	c.mu.Unlock()
	c.greeted = true
	return nil
}

func (c *conn) header() (string, error) {
	for len(c.in) < wire.HeaderSize {
		if err := c.fillHandshake(); err != nil {
			return "", err
		}
	}
	header := string(c.in[:wire.HeaderSize])
	c.in = c.in[wire.HeaderSize:]
	return header, nil
}

// wrongHeader answers with the header that we would have understood.
func (c *conn) wrongHeader(got, ours string) error {
	c.mu.Lock()
	c.out = append(c.out, ours...)
	c.flushLocked()
	c.mu.Unlock()
	return fmt.Errorf("%w: protocol header %q", errProtocol, got)
}

func (c *conn) fillHandshake() error {
	n, err := c.nc.Read(c.space[len(c.space)-cap(c.in)+len(c.in):])
	c.in = c.in[:len(c.in)+n]
	if n > 0 {
		return nil
	}
	return err
}

func (c *conn) sasl() error {
	c.mu.Lock()
	c.out = append(c.out, wire.ProtocolSASL...)
	c.out = wire.AppendFrame(c.out, wire.FrameSASL, 0, &wire.SASLMechanisms{Mechanisms: mechanisms[:]})
	c.flushLocked()
	c.mu.Unlock()
	p, err := c.saslFrame()
	if err != nil {
		return err
	}
	init, ok := p.(*wire.SASLInit)
	if !ok {
		return fmt.Errorf("%w: %T instead of a SASL init", errProtocol, p)
	}
	outcome := &wire.SASLOutcome{Code: wire.SASLOK}
	refused := checkSASL(init)
	if refused != nil {
		outcome.Code = wire.SASLAuth
	}
	c.mu.Lock()
	c.out = wire.AppendFrame(c.out, wire.FrameSASL, 0, outcome)
	c.flushLocked()
	c.mu.Unlock()
	return refused
}

func (c *conn) saslFrame() (wire.Performative, error) {
	for {
		n, err := wire.FrameSize(c.in, maxSASLFrame)
		if err != nil {
			return nil, err
		}
		if n > 0 && n <= len(c.in) {
			frame, err := wire.ParseFrame(c.in[:n])
			if err != nil {
				return nil, err
			}
			if frame.Type != wire.FrameSASL {
				return nil, fmt.Errorf("%w: frame of type %d during SASL", errProtocol, frame.Type)
			}
			c.in = c.in[n:]
			return wire.ParseSASL(frame.Body)
		}
		if err := c.fillHandshake(); err != nil {
			return nil, err
		}
	}
}

// checkSASL believes every attempt that is well formed: this is a development
// server.
func checkSASL(init *wire.SASLInit) error {
	switch init.Mechanism {
	case "ANONYMOUS", "MSSBCBS", "EXTERNAL":
		return nil
	case "PLAIN":
		if bytes.Count(init.InitialResponse, []byte{0}) == 2 {
			return nil
		}
		return fmt.Errorf("%w: PLAIN without an identity and a password", errProtocol)
	default:
		return fmt.Errorf("%w: SASL mechanism %q", errProtocol, init.Mechanism)
	}
}

// open answers the client's open.
func (c *conn) open(p *wire.Open) error {
	opts := &c.server.opts
	c.opened = true
	product, _ := p.Properties.Get("product").(string)
	agent, _ := p.Properties.Get("user-agent").(string)
	c.client = product + " " + agent
	c.nc.SetReadDeadline(time.Time{})
	maxFrame := p.MaxFrameSize.Or(maxFrameOut)
	answer := &wire.Open{
		ContainerID:  opts.ContainerID,
		MaxFrameSize: wire.Some(opts.MaxFrameSize),
		ChannelMax:   wire.Some[uint16](channelMax),
		Properties:   wire.Map{{Key: wire.Symbol("product"), Value: "Redeliver"}},
	}
	if opts.IdleTimeout > 0 {
		answer.IdleTimeout = wire.Some(uint32(opts.IdleTimeout.Milliseconds()))
	}
	c.mu.Lock()
	c.maxFrame = min(max(maxFrame, wire.MinMaxFrameSize), maxFrameOut)
	c.out = wire.AppendFrame(c.out, wire.FrameAMQP, 0, answer)
	c.flushLocked()
	c.mu.Unlock()
	if maxFrame < wire.MinMaxFrameSize {
		return wire.Errorf(wire.CondInvalidField, "max-frame-size %d: want at least %d", maxFrame, wire.MinMaxFrameSize)
	}
	if idle := p.IdleTimeout.Or(0); idle > 0 {
		c.startHeartbeat(time.Duration(idle) * time.Millisecond)
	}
	return nil
}

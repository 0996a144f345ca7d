package wire

import (
	"encoding/binary"
	"fmt"
)

// Types of frames.
const (
	FrameAMQP = 0x00
	FrameSASL = 0x01
)

const (
	// HeaderSize is the size of a protocol header, and of the header of a frame
	// as all peers write it.
	HeaderSize = 8

	// MinMaxFrameSize is the smallest maximum of a frame that a peer may ask for.
	MinMaxFrameSize = 512
)

// Protocol headers.
const (
	ProtocolAMQP = "AMQP\x00\x01\x00\x00"
	ProtocolSASL = "AMQP\x03\x01\x00\x00"
)

// Frame is a frame as it arrived.
type Frame struct {
	Type    byte
	Channel uint16
	Body    []byte // performative and payload; empty in a heartbeat
}

// FrameSize returns the whole size of the frame that begins in b: 0 when that
// takes more of it. It fails when it is over max, or under what a frame has at least.
func FrameSize(b []byte, max uint32) (int, error) {
	if len(b) < 4 {
		return 0, nil
	}
	size := binary.BigEndian.Uint32(b)
	if size < HeaderSize {
		return 0, fmt.Errorf("%w: frame of %d bytes", ErrMalformed, size)
	}
	if size > max {
		return 0, fmt.Errorf("%w: frame of %d bytes, at most %d are allowed", ErrMalformed, size, max)
	}
	return int(size), nil
}

// ParseFrame takes a frame apart; b is all of it. The body is a slice of b.
func ParseFrame(b []byte) (Frame, error) {
	if len(b) < HeaderSize {
		return Frame{}, fmt.Errorf("%w: frame of %d bytes", ErrMalformed, len(b))
	}
	offset := int(b[4]) * 4
	if offset < HeaderSize || offset > len(b) {
		return Frame{}, fmt.Errorf("%w: data offset %d in a frame of %d bytes", ErrMalformed, offset, len(b))
	}
	return Frame{Type: b[5], Channel: binary.BigEndian.Uint16(b[6:]), Body: b[offset:]}, nil
}

// BeginFrame adds the header of a frame. EndFrame fills in its size.
func BeginFrame(b []byte, kind byte, channel uint16) []byte {
	return append(b, 0, 0, 0, 0, 2, kind, byte(channel>>8), byte(channel))
}

// EndFrame ends the frame that begins at start, where BeginFrame put it.
func EndFrame(b []byte, start int) []byte {
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start))
	return b
}

// Performative is the body of a frame without its payload. It is one of the
// pointer types *Open ... *Close and the SASL frames.
type Performative interface {
	// Append adds the performative to b.
	Append(b []byte) []byte

	fields(l *list)
}

// AppendFrame adds a frame with p.
func AppendFrame(b []byte, kind byte, channel uint16, p Performative) []byte {
	start := len(b)
	return EndFrame(p.Append(BeginFrame(b, kind, channel)), start)
}

// UnknownPerformativeError says that a body begins with a described type that is
// no performative of its kind of frame.
type UnknownPerformativeError struct{ Descriptor uint64 }

func (e *UnknownPerformativeError) Error() string {
	return fmt.Sprintf("unknown performative 0x%02x", e.Descriptor)
}

// Peek returns the descriptor of the performative in body, and a decoder of its
// list.
func peek(body []byte) (Decoder, uint64) {
	d := NewDecoder(body)
	code := d.Descriptor()
	return d, code
}

// ParseBody decodes the body of an AMQP frame and returns what follows: the
// payload of a transfer. Both keep slices of body.
func ParseBody(body []byte) (Performative, []byte, error) {
	d := NewDecoder(body)
	code := d.Descriptor()
	if d.err != nil {
		return nil, nil, d.err
	}
	if code < DescOpen || code > DescClose {
		return nil, nil, &UnknownPerformativeError{code}
	}
	l := d.readList()
	var p Performative
	switch code { // of known types: the list stays on the stack
	case DescTransfer:
		v := new(Transfer)
		v.fields(&l)
		p = v
	case DescDisposition:
		v := new(Disposition)
		v.fields(&l)
		p = v
	case DescFlow:
		v := new(Flow)
		v.fields(&l)
		p = v
	case DescOpen:
		v := new(Open)
		v.fields(&l)
		p = v
	case DescBegin:
		v := new(Begin)
		v.fields(&l)
		p = v
	case DescAttach:
		v := new(Attach)
		v.fields(&l)
		p = v
	case DescDetach:
		v := new(Detach)
		v.fields(&l)
		p = v
	case DescEnd:
		v := new(End)
		v.fields(&l)
		p = v
	case DescClose:
		v := new(Close)
		v.fields(&l)
		p = v
	}
	d.endList(&l)
	if d.err != nil {
		return nil, nil, d.err
	}
	return p, d.b, nil
}

// ParseSASL decodes the body of a SASL frame.
func ParseSASL(body []byte) (Performative, error) {
	d, code := peek(body)
	var p Performative
	switch code {
	case DescSASLMechanisms:
		p = new(SASLMechanisms)
	case DescSASLInit:
		p = new(SASLInit)
	case DescSASLChallenge:
		p = new(SASLChallenge)
	case DescSASLResponse:
		p = new(SASLResponse)
	case DescSASLOutcome:
		p = new(SASLOutcome)
	default:
		if d.err != nil {
			return nil, d.err
		}
		return nil, &UnknownPerformativeError{code}
	}
	p, rest, err := parsed(&d, p)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: %d bytes after a SASL performative", ErrMalformed, len(rest))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func parsed(d *Decoder, p Performative) (Performative, []byte, error) {
	l := d.readList()
	p.fields(&l)
	d.endList(&l)
	if d.err != nil {
		return nil, nil, d.err
	}
	return p, d.b, nil
}

package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

func isDecodeError(err error) bool {
	_, unknown := errors.AsType[*wire.UnknownPerformativeError](err)
	return unknown || errors.Is(err, wire.ErrMalformed)
}

// FuzzValue: whatever decodes encodes to what decodes to the same encoding, and
// Skip goes as far as Any.
func FuzzValue(f *testing.F) {
	for _, s := range []string{"\x40", "\xc0\x03\x02\x40\x43", "\xe0\x04\x02\x50\x01\x02", "\xe0\x06\x01\x00\x53\x05\x50\x09", "\x00\xa3\x01u\x54\x01", "\xc1\x06\x02\xa1\x01a\x54\x01", "\xe0\x02\x02\x45", "\xe0\x08\x01\xe0\x04\x02\x50\x01\x02"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d := wire.NewDecoder(b)
		v := d.Any()
		if d.Err() != nil {
			if !errors.Is(d.Err(), wire.ErrMalformed) {
				t.Fatalf("unexpected error %v", d.Err())
			}
			return
		}
		s := wire.NewDecoder(b)
		if s.Skip(); s.Err() != nil || len(s.Rest()) != len(d.Rest()) {
			t.Fatalf("Skip: %v, %d left; Any left %d", s.Err(), len(s.Rest()), len(d.Rest()))
		}
		once := wire.AppendAny(nil, v)
		d = wire.NewDecoder(once)
		twice := wire.AppendAny(nil, d.Any())
		if d.Err() != nil || !bytes.Equal(once, twice) {
			t.Fatalf("encoded %x, decoded and encoded again %x, %v", once, twice, d.Err())
		}
	})
}

// FuzzBody: no frame body panics, and what decodes can be written.
func FuzzBody(f *testing.F) {
	for _, p := range []wire.Performative{&wire.Open{ContainerID: "c"}, &wire.Attach{Source: &wire.Source{}, Target: &wire.Target{}}, &wire.Transfer{Tag: []byte("t")}, &wire.Disposition{State: &wire.State{Kind: wire.StateModified}}, &wire.Flow{}, &wire.SASLInit{Mechanism: "PLAIN"}} {
		f.Add(p.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, rest, err := wire.ParseBody(b); err == nil {
			if _, again, err := wire.ParseBody(append(p.Append(nil), rest...)); err != nil || !bytes.Equal(again, rest) {
				t.Fatalf("%#v does not come back: %v", p, err)
			}
		} else if !isDecodeError(err) {
			t.Fatalf("unexpected error %v", err)
		}
		if _, err := wire.ParseSASL(b); err != nil && !isDecodeError(err) {
			t.Fatalf("unexpected error %v", err)
		}
	})
}

// FuzzMessage: no message panics, and what was parsed parses again.
func FuzzMessage(f *testing.F) {
	m := wire.Message{HasHeader: true, HasProperties: true, ApplicationProperties: wire.Map{{Key: "k", Value: int32(1)}}, Body: wire.AppendData(nil, []byte("body"))}
	f.Add(m.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := wire.ParseMessage(b)
		if err != nil {
			if !errors.Is(err, wire.ErrMalformed) {
				t.Fatalf("unexpected error %v", err)
			}
			return
		}
		m.DataSections()
		m.Value()
		if _, err := wire.ParseMessage(m.Append(nil)); err != nil {
			t.Fatalf("it does not come back: %v", err)
		}
	})
}

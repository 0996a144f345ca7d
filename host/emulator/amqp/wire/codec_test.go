package wire_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// TestPrimitives has one row for every encoding of the standard, part 1.6.
func TestPrimitives(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	tests := []struct {
		name    string
		in      string // every encoding that is taken
		want    any
		smaller string // what is written; empty: in
	}{
		{"null", "\x40", nil, ""},
		{"true", "\x41", true, ""},
		{"false", "\x42", false, ""},
		{"boolean of one byte", "\x56\x01", true, "\x41"},
		{"ubyte", "\x50\xff", uint8(255), ""},
		{"ushort", "\x60\x01\x02", uint16(0x102), ""},
		{"uint0", "\x43", uint32(0), ""},
		{"smalluint", "\x52\x07", uint32(7), ""},
		{"uint", "\x70\x00\x00\x01\x00", uint32(256), ""},
		{"uint that could be smaller", "\x70\x00\x00\x00\x07", uint32(7), "\x52\x07"},
		{"ulong0", "\x44", uint64(0), ""},
		{"smallulong", "\x53\x07", uint64(7), ""},
		{"ulong", "\x80\xff\xff\xff\xff\xff\xff\xff\xff", uint64(math.MaxUint64), ""},
		{"byte", "\x51\xff", int8(-1), ""},
		{"short", "\x61\xff\xfe", int16(-2), ""},
		{"smallint", "\x54\xfd", int32(-3), ""},
		{"int", "\x71\x00\x00\x00\xca", int32(202), ""},
		{"smalllong", "\x55\xfc", int64(-4), ""},
		{"long", "\x81\x00\x00\x00\x00\x00\x00\x01\x00", int64(256), ""},
		{"float", "\x72\x3f\x80\x00\x00", float32(1), ""},
		{"double", "\x82\x3f\xf0\x00\x00\x00\x00\x00\x00", float64(1), ""},
		{"decimal32", "\x74\x01\x02\x03\x04", wire.Decimal32{1, 2, 3, 4}, ""},
		{"decimal64", "\x84\x01\x02\x03\x04\x05\x06\x07\x08", wire.Decimal64{1, 2, 3, 4, 5, 6, 7, 8}, ""},
		{"decimal128", "\x94" + strings.Repeat("\x01", 16), wire.Decimal128{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, ""},
		{"char", "\x73\x00\x01\xf6\x00", wire.Char('😀'), ""},
		{"timestamp", "\x83\x00\x00\x00\x00\x00\x00\x03\xe8", wire.Timestamp(1000), ""},
		{"uuid", "\x98ABCDEFGHIJKLMNOP", wire.UUID([]byte("ABCDEFGHIJKLMNOP")), ""},
		{"vbin8", "\xa0\x02\x00\xff", []byte{0, 255}, ""},
		{"vbin32", "\xb0\x00\x00\x00\x01\x05", []byte{5}, "\xa0\x01\x05"},
		{"str8", "\xa1\x02\xc3\xa9", "é", ""},
		{"str32", "\xb1\x00\x00\x01\x2c" + long, long, ""},
		{"sym8", "\xa3\x01a", wire.Symbol("a"), ""},
		{"sym32", "\xb3\x00\x00\x00\x01a", wire.Symbol("a"), "\xa3\x01a"},
		{"list0", "\x45", wire.List{}, ""},
		{"list8", "\xc0\x03\x02\x40\x43", wire.List{nil, uint32(0)}, ""},
		{"list32", "\xd0\x00\x00\x00\x05\x00\x00\x00\x01\x41", wire.List{true}, "\xc0\x02\x01\x41"},
		{"map8", "\xc1\x06\x02\xa1\x01a\x54\x01", wire.Map{{Key: "a", Value: int32(1)}}, ""},
		{"map32", "\xd1\x00\x00\x00\x04\x00\x00\x00\x00", wire.Map{}, "\xc1\x01\x00"},
		{"array8", "\xe0\x04\x02\x50\x01\x02", &wire.Array{Type: 0x50, Items: wire.List{uint8(1), uint8(2)}}, ""},
		{"array32 of small ints", "\xf0\x00\x00\x00\x06\x00\x00\x00\x01\x54\x05", &wire.Array{Type: 0x54, Items: wire.List{int32(5)}}, "\xe0\x06\x01\x71\x00\x00\x00\x05"},
		{"array of described", "\xe0\x06\x01\x00\x53\x05\x50\x09", &wire.Array{Type: 0x50, Descriptor: uint64(5), Items: wire.List{uint8(9)}}, ""},
		{"array of lists", "\xe0\x04\x02\x45", &wire.Array{}, "!"},
		{"array of two empty lists", "\xe0\x02\x02\x45", &wire.Array{Type: 0x45, Items: wire.List{wire.List{}, wire.List{}}}, "\xe0\x12\x02\xd0\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00"},
		{"empty array", "\xe0\x02\x00\x83", &wire.Array{Type: 0x83, Items: wire.List{}}, ""},
		{"described", "\x00\xa3\x01u\x54\x01", &wire.Described{Descriptor: wire.Symbol("u"), Value: int32(1)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := wire.NewDecoder([]byte(tt.in))
			got := d.Any()
			if tt.smaller == "!" {
				if !errors.Is(d.Err(), wire.ErrMalformed) {
					t.Fatalf("Any() = %v, %v, want ErrMalformed", got, d.Err())
				}
				return
			}
			if d.Err() != nil || len(d.Rest()) > 0 {
				t.Fatalf("Any() = %v, %v, rest %x", got, d.Err(), d.Rest())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Any() (-want +got):\n%s", diff)
			}
			want := tt.smaller
			if want == "" {
				want = tt.in
			}
			if b := wire.AppendAny(nil, got); string(b) != want {
				t.Errorf("AppendAny = %x, want %x", b, want)
			}
			s := wire.NewDecoder([]byte(tt.in))
			if s.Skip(); s.Err() != nil || len(s.Rest()) > 0 {
				t.Errorf("Skip: %v, rest %x", s.Err(), s.Rest())
			}
		})
	}
}

func TestMalformedValues(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"nothing":                        "",
		"unknown type":                   "\x10",
		"cut int":                        "\x71\x00",
		"cut string":                     "\xa1\x05ab",
		"string of 4 GiB":                "\xb1\xff\xff\xff\xffab",
		"not UTF-8":                      "\xa1\x01\xff",
		"boolean 2":                      "\x56\x02",
		"list of 4 Gi elements":          "\xd0\x00\x00\x00\x04\xff\xff\xff\xff",
		"list larger than its elements":  "\xc0\x03\x01\x40\x40",
		"list smaller than its elements": "\xc0\x02\x02\x40",
		"map of an odd count":            "\xc1\x02\x01\x40",
		"array of 4 Gi nulls":            "\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x40",
		"arrays of nulls in an array": "\xe0\x14\x02\xf0" + "\x00\x00\x00\x05\x00\x00\xff\xff\x40" +
			"\x00\x00\x00\x05\x00\x00\xff\xff\x40",
		"nested too deeply":       strings.Repeat("\x00", 2000) + "\x40\x40",
		"lists nested too deeply": nested(40),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := wire.NewDecoder([]byte(in))
			if v := d.Any(); !errors.Is(d.Err(), wire.ErrMalformed) {
				t.Errorf("Any() = %v, %v, want ErrMalformed", v, d.Err())
			}
		})
	}
}

func nested(n int) string {
	s := "\x45"
	for range n {
		s = "\xc0" + string([]byte{byte(len(s) + 1), 1}) + s
	}
	return s
}

func TestPerformatives(t *testing.T) {
	t.Parallel()
	failure := &wire.Error{Condition: "amqp:not-found", Description: "no such thing", Info: wire.Map{{Key: wire.Symbol("a"), Value: "b"}}}
	for _, want := range []wire.Performative{
		&wire.Open{ContainerID: "c", Hostname: wire.Some("h"), MaxFrameSize: wire.Some[uint32](65536), ChannelMax: wire.Some[uint16](4999),
			IdleTimeout: wire.Some[uint32](120000), Properties: wire.Map{{Key: wire.Symbol("product"), Value: "x"}}},
		&wire.Open{},
		&wire.Begin{RemoteChannel: wire.Some[uint16](0), NextOutgoingID: 1, IncomingWindow: 5000, OutgoingWindow: math.MaxUint32, HandleMax: wire.Some[uint32](255)},
		&wire.Attach{Name: "l", Handle: 3, Role: wire.Receiver, SendMode: wire.Some(wire.SendSettled), ReceiveMode: wire.Some(wire.ReceiveSecond),
			Source: &wire.Source{Address: wire.Some("q"), Filter: wire.Map{{Key: wire.Symbol("com.microsoft:session-filter"), Value: &wire.Described{Descriptor: uint64(0x137000000C), Value: "s"}}}, Outcomes: wire.NewArray([]wire.Symbol{"amqp:accepted:list"})},
			Target: &wire.Target{Address: wire.Some("me")}, MaxMessageSize: wire.Some[uint64](262144), Properties: wire.Map{{Key: wire.Symbol("com.microsoft:timeout"), Value: uint32(60000)}}},
		&wire.Attach{Name: "tx", Source: &wire.Source{}, Coordinator: true, InitialDeliveryCount: wire.Some[uint32](0)},
		&wire.Flow{NextIncomingID: wire.Some[uint32](1), IncomingWindow: 2, NextOutgoingID: 3, OutgoingWindow: 4, Handle: wire.Some[uint32](0), DeliveryCount: wire.Some[uint32](7), LinkCredit: wire.Some[uint32](8), Drain: true, Echo: true},
		&wire.Transfer{Handle: 1, DeliveryID: wire.Some[uint32](9), Tag: []byte{1, 2}, Format: wire.Some[uint32](0x80013700), Settled: wire.Some(false), More: true, Aborted: true},
		&wire.Disposition{Role: wire.Receiver, First: 3, Last: wire.Some[uint32](9), Settled: true, State: &wire.State{Kind: wire.StateAccepted}},
		&wire.Disposition{First: 3, State: &wire.State{Kind: wire.StateRejected, Error: failure}},
		&wire.Disposition{State: &wire.State{Kind: wire.StateReleased}},
		&wire.Disposition{State: &wire.State{Kind: wire.StateModified, UndeliverableHere: true, Annotations: wire.Map{{Key: "k", Value: int64(1)}}}},
		&wire.Disposition{State: &wire.State{Kind: wire.StateReceived, SectionNumber: 1, SectionOffset: 2}},
		&wire.Detach{Handle: 1, Closed: true, Error: failure},
		&wire.End{Error: failure},
		&wire.Close{},
	} {
		b := wire.AppendFrame(nil, wire.FrameAMQP, 7, want)
		f, err := wire.ParseFrame(append(b, "payload"...))
		if err != nil || f.Channel != 7 || f.Type != wire.FrameAMQP {
			t.Fatalf("ParseFrame(%#v) = %v, %v", want, f, err)
		}
		got, rest, err := wire.ParseBody(f.Body)
		if err != nil || string(rest) != "payload" {
			t.Fatalf("ParseBody(%#v) = %v, rest %q", want, err, rest)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestOpenForms shows that lists of any form and with fields of a later
// version are read, and that mandatory fields are missed.
func TestOpenForms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		want string // container id; "!" an error
	}{
		"list8":              {"\x00\x53\x10\xc0\x04\x01\xa1\x01c", "c"},
		"list32":             {"\x00\x53\x10\xd0\x00\x00\x00\x07\x00\x00\x00\x01\xa1\x01c", "c"},
		"ulong descriptor":   {"\x00\x80\x00\x00\x00\x00\x00\x00\x00\x10\xc0\x04\x01\xa1\x01c", "c"},
		"symbol descriptor":  {"\x00\xa3\x0eamqp:open:list\xc0\x04\x01\xa1\x01c", "c"},
		"fields to come":     {"\x00\x53\x10\xc0\x11\x0c\xa1\x01c\x40\x40\x40\x40\x40\x40\x40\x40\x40\xa1\x01x\x43", "c"},
		"list0: no id":       {"\x00\x53\x10\x45", "!"},
		"null id":            {"\x00\x53\x10\xc0\x02\x01\x40", "!"},
		"id of another type": {"\x00\x53\x10\xc0\x03\x01\x52\x01", "!"},
		"not described":      {"\xc0\x04\x01\xa1\x01c", "!"},
		"a map":              {"\x00\x53\x10\xc1\x01\x00", "!"},
		"cut":                {"\x00\x53\x10\xc0\x05\x01\xa1\x02c", "!"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, err := wire.ParseBody([]byte(tt.body))
			if tt.want == "!" {
				if !errors.Is(err, wire.ErrMalformed) {
					t.Errorf("ParseBody = %v, %v, want ErrMalformed", p, err)
				}
				return
			}
			if o, ok := p.(*wire.Open); err != nil || !ok || o.ContainerID != tt.want {
				t.Errorf("ParseBody = %#v, %v", p, err)
			}
		})
	}
	_, _, err := wire.ParseBody([]byte("\x00\x53\x19\x45"))
	if unknown, ok := errors.AsType[*wire.UnknownPerformativeError](err); !ok || unknown.Descriptor != 0x19 {
		t.Errorf("ParseBody of 0x19 = %v, want UnknownPerformativeError", err)
	}
}

func TestFrameSizes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"": 0, "\x00\x00\x00": 0, "\x00\x00\x00\x08": 8, "\x00\x00\x00\x07": -1, "\x00\x00\x02\x00": 512, "\x00\x00\x02\x01": -1, "\xff\xff\xff\xff": -1} {
		n, err := wire.FrameSize([]byte(in), 512)
		if (err != nil) != (want < 0) || (err == nil && n != want) {
			t.Errorf("FrameSize(%x) = %d, %v, want %d", in, n, err, want)
		}
	}
	for _, in := range []string{"\x00\x00\x00\x08\x01\x00\x00\x00", "\x00\x00\x00\x08\x03\x00\x00\x00", "\x00\x00"} {
		if _, err := wire.ParseFrame([]byte(in)); err == nil {
			t.Errorf("ParseFrame(%x): no error", in)
		}
	}
	f, err := wire.ParseFrame([]byte("\x00\x00\x00\x0d\x03\x00\x00\x00....B"))
	if err != nil || string(f.Body) != "B" {
		t.Errorf("ParseFrame with an extended header = %q, %v", f.Body, err)
	}
}

func TestTimestamp(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6+7, time.UTC)
	if got, want := wire.TimestampOf(at).Time(), at.Truncate(time.Millisecond); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestErrorHasAllFields: the client for Python (azure-servicebus 7.15,
// _pyamqp/client.py) takes an error's third field without asking whether there is one.
func TestErrorHasAllFields(t *testing.T) {
	t.Parallel()
	got := wire.AppendFrame(nil, wire.FrameAMQP, 0, &wire.End{Error: &wire.Error{Condition: "a:b"}})
	want := "\x00\x53\x1d\xc0\x08\x03\xa3\x03a:b\x40\x40" // condition, no description, no info
	if !strings.HasSuffix(string(got), want) {
		t.Errorf("end = %x, want it to end with %x", got, want)
	}
}

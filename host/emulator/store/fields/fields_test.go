package fields_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/store/fields"
)

// record is one value with every kind of field.
type record struct {
	Text          string
	Bytes         []byte
	Some, None    *string
	Yes, No       bool
	Zero, Now     time.Time
	Wait          time.Duration
	Count, Number uint64
}

func (r *record) append(b []byte) []byte {
	b = fields.AppendBytes(fields.AppendString(b, r.Text), r.Bytes)
	b = fields.AppendOptional(fields.AppendOptional(b, r.Some), r.None)
	b = fields.AppendBool(fields.AppendBool(b, r.Yes), r.No)
	b = fields.AppendTime(fields.AppendTime(b, r.Zero), r.Now)
	b = binary.AppendVarint(b, int64(r.Wait))
	return binary.AppendUvarint(binary.AppendUvarint(b, r.Count), r.Number)
}

func read(b []byte) (out record, done bool) {
	r := fields.NewReader(b)
	out = record{
		Text: r.String(), Bytes: r.Bytes(), Some: r.Optional(), None: r.Optional(), Yes: r.Bool(), No: r.Bool(),
		Zero: r.Time(), Now: r.Time(), Wait: r.Duration(), Count: r.Uvarint(), Number: r.Uvarint(),
	}
	return out, r.Done()
}

// Appended fields are read back, and no shorter or longer bytes pass for them.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	empty := ""
	want := record{
		Text: "größe", Bytes: []byte{0, 1}, Some: &empty, Yes: true,
		Now: time.Date(2026, 2, 28, 23, 59, 59, 999_999_999, time.UTC), Wait: -time.Nanosecond, Count: 1<<64 - 1,
	}
	b := want.append(nil)
	got, done := read(b)
	if diff := cmp.Diff(want, got); diff != "" || !done {
		t.Errorf("done %v (-want +got):\n%s", done, diff)
	}
	for n := range b {
		if _, done := read(b[:n]); done {
			t.Errorf("%d of %d bytes pass for all", n, len(b))
		}
	}
	if _, done := read(append(b, 0)); done {
		t.Error("a byte too much passes")
	}
}

// A length that is larger than what is there takes nothing.
func TestDamagedLengths(t *testing.T) {
	t.Parallel()
	for _, n := range []uint64{3, 1 << 31, 1<<64 - 1} {
		r := fields.NewReader(append(binary.AppendUvarint(nil, n), "ab"...))
		if s := r.String(); s != "" || !r.Bad() {
			t.Errorf("length %d: %q, bad %v", n, s, r.Bad())
		}
	}
}

package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/journal"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 600, time.UTC)

func fixed() time.Time { return start }

func TestLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		r    journal.Record
		want string
	}{
		"empty fields are left out": {
			journal.Record{Kind: journal.HostStopped},
			`{"seq":1,"time":"2030-01-02T03:04:05.0000006Z","kind":"host_stopped"}`,
		},
		"first attempt has retry count 0": {
			journal.Record{Kind: journal.AttemptStarted, Generation: 1, Function: "Orders", Delivery: "d-1", Attempt: 1, HasPolicy: true, MaxRetryCount: 0, DeliveryCount: 2},
			`{"seq":1,"time":"2030-01-02T03:04:05.0000006Z","kind":"attempt_started","generation":1,"function":"Orders","delivery":"d-1","delivery_count":2,"attempt":1,"retry_count":0,"max_retry_count":0}`,
		},
		"a zero delay is printed when it is one": {
			journal.Record{Kind: journal.RetryScheduled, Attempt: 2, HasDelay: true},
			`{"seq":1,"time":"2030-01-02T03:04:05.0000006Z","kind":"retry_scheduled","attempt":2,"retry_count":1,"delay":"00:00:00"}`,
		},
		"text is escaped": {
			journal.Record{Kind: journal.HandlerLog, Message: "a \"b\"\n\x01ü\xff", Fields: []journal.Field{{Key: "k", Value: "v"}}},
			`{"seq":1,"time":"2030-01-02T03:04:05.0000006Z","kind":"handler_log","message":"a \"b\"\n\u0001ü\ufffd","fields":{"k":"v"}}`,
		},
		"what travels beside is not printed": {
			journal.Record{Kind: journal.ProcessStarted, Beside: journal.Beside{PID: 7, Elapsed: time.Second}},
			`{"seq":1,"time":"2030-01-02T03:04:05.0000006Z","kind":"process_started"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journal.New(fixed, nil)
			j.Append(tt.r)
			var b bytes.Buffer
			if _, err := j.WriteTo(&b); err != nil {
				t.Fatalf("WriteTo: %v", err)
			}
			if diff := cmp.Diff(b.String(), tt.want+"\n"); diff != "" {
				t.Errorf("WriteTo (-got +want):\n%s", diff)
			}
			if !json.Valid(b.Bytes()) {
				t.Errorf("WriteTo printed no JSON: %s", b.String())
			}
		})
	}
}

// A journal keeps records in a form of its own: every field has to come back,
// also when deliveries alternate and share what they have in common.
func TestRecordsComeBackWhole(t *testing.T) {
	t.Parallel()
	j := journal.New(fixed, nil)
	var want []journal.Record
	for i := range 1000 {
		n := i % 150 // deliveries
		r := journal.Record{Kind: journal.AttemptEnded, Delivery: fmt.Sprint("d", n), Attempt: i}
		if v := reflect.ValueOf(&r).Elem(); i%3 > 0 {
			// One further field, another each time: none may stick to its neighbours.
			setField(v.Field(3+i%(v.NumField()-3)), 1+n)
		}
		j.Append(r)
		r.Seq, r.Time = uint64(i+1), start
		want = append(want, r)
	}
	if diff := cmp.Diff(want, j.Records()); diff != "" {
		t.Errorf("Records (-want +got):\n%s", diff)
	}
	i := 0
	if _, ok := j.Find(1, func(r *journal.Record) bool {
		if diff := cmp.Diff(want[i], *r); diff != "" {
			t.Errorf("Find (-want +got):\n%s", diff)
		}
		i++
		return false
	}); ok || i != len(want) {
		t.Errorf("Find looked at %d records, want %d", i, len(want))
	}
}

// setField gives a field of a record a value that depends on n.
func setField(f reflect.Value, n int) {
	switch f.Kind() {
	case reflect.Int, reflect.Int64:
		f.SetInt(int64(n))
	case reflect.String:
		f.SetString(fmt.Sprint("text ", n))
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Slice:
		f.Set(reflect.ValueOf([]journal.Field{{Key: "k", Value: fmt.Sprint(n)}}))
	case reflect.Struct:
		for i := range f.NumField() {
			setField(f.Field(i), n)
		}
	}
}

func TestKeepsTheLatest(t *testing.T) {
	t.Parallel()
	const keep, written = 1000, 5000
	j := journal.New(fixed, &journal.Options{Keep: keep})
	s := j.Subscribe(1)
	defer s.Close()
	for i := range written {
		j.Append(journal.Record{Kind: journal.Enqueued, Name: fmt.Sprint(i)})
	}
	records := j.Records()
	if n := len(records); n < keep || n > keep+512 {
		t.Errorf("%d records are kept, want %d or some hundred more", n, keep)
	}
	for i, r := range records {
		if want := uint64(written - len(records) + 1 + i); r.Seq != want || r.Name != fmt.Sprint(want-1) {
			t.Fatalf("record %d is %v, want number %d", i, r, want)
		}
	}
	r, missed, err := s.Next(context.Background())
	if err != nil || r.Seq != records[0].Seq || missed != records[0].Seq-1 {
		t.Errorf("Next = seq %d, missed %d, %v; want the oldest kept record, and the earlier ones missed", r.Seq, missed, err)
	}
	if _, ok := j.Find(1, func(r *journal.Record) bool { return r.Name == "1" }); ok {
		t.Error("Find returned a record that is no longer kept")
	}
	if r, ok := j.Find(4990, func(r *journal.Record) bool { return true }); !ok || r.Seq != 4990 {
		t.Errorf("Find from 4990 = seq %d, %v", r.Seq, ok)
	}
}

// Records are bounded by their room too: what is long goes sooner, a reader is told how
// much it has missed, and the newest is there whatever its length.
func TestKeepBytes(t *testing.T) {
	t.Parallel()
	const room, line = 1 << 20, 8 << 10
	j := journal.New(fixed, &journal.Options{KeepBytes: room})
	s := j.Subscribe(1)
	defer s.Close()
	j.Append(journal.Record{Kind: journal.HostStarted})
	if _, _, ok := s.TryNext(); !ok {
		t.Fatal("no first record")
	}
	for i := range 3000 {
		j.Append(journal.Record{Kind: journal.HandlerLog, Name: fmt.Sprint(i), Message: strings.Repeat("x", line)})
	}
	records := j.Records()
	if n := len(records); n < room/line*9/10 || n > room/line {
		t.Errorf("%d records of %d bytes are kept in %d bytes", n, line, room)
	}
	if last := records[len(records)-1]; last.Seq != 3001 || last.Name != "2999" {
		t.Errorf("the newest record is %d, %s", last.Seq, last.Name)
	}
	r, missed, _ := s.TryNext()
	if r.Seq != records[0].Seq || missed != r.Seq-2 {
		t.Errorf("TryNext = seq %d, missed %d; want the oldest kept record, and the earlier ones missed", r.Seq, missed)
	}
	j.Append(journal.Record{Kind: journal.HandlerLog, Message: strings.Repeat("x", 2*room)})
	if records := j.Records(); len(records) != 1 || len(records[0].Message) != 2*room {
		t.Errorf("%d records are kept beside one that is too large", len(records)-1)
	}
	for range 1000 {
		j.Append(journal.Record{Kind: journal.HostStarted})
	}
	if n := len(j.Records()); n != 1000 {
		t.Errorf("%d short records are kept, want 1000", n)
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	j := journal.New(fixed, &journal.Options{Keep: -1})
	s := j.Subscribe(1)
	defer s.Close()
	j.Append(journal.Record{Kind: journal.HostStarted})
	j.Append(journal.Record{Kind: journal.HostStarted})
	if _, err := j.Wait(context.Background(), func(r *journal.Record) bool { return r.Seq == 2 }); err != nil {
		t.Fatal(err)
	}
	_, _, _ = s.TryNext()
	_, _, _ = s.TryNext()
	j.Reset()
	if n := j.Len(); n != 0 {
		t.Errorf("Len after Reset = %d, want 0", n)
	}
	j.Append(journal.Record{Kind: journal.HostStopped})
	r, missed, ok := s.TryNext()
	if !ok || r.Kind != journal.HostStopped || r.Seq != 1 || missed != 0 {
		t.Errorf("TryNext after Reset = %v, missed %d, %v", r, missed, ok)
	}
}

func TestFindKind(t *testing.T) {
	t.Parallel()
	j := journal.New(fixed, &journal.Options{Keep: -1})
	first := func(seq uint64, kind journal.Kind) uint64 {
		r, _ := j.FindKind(seq, kind, func(r *journal.Record) bool { return r.Kind == kind && r.Function != "other" })
		return r.Seq
	}
	for range 300 {
		j.Append(journal.Record{Kind: journal.AttemptStarted})
		j.Append(journal.Record{Kind: journal.Settled, Function: "other"})
		j.Append(journal.Record{Kind: journal.Settled})
	}
	got := []uint64{first(1, journal.Settled), first(4, journal.Settled), first(899, journal.Settled), first(900, journal.Settled), first(901, journal.Settled),
		first(898, journal.AttemptStarted), first(899, journal.AttemptStarted), first(1, journal.HostStopped)}
	if want := []uint64{3, 6, 900, 900, 0, 898, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("found %d, want %d", got, want)
	}
	j.Reset()
	if got := first(1, journal.Settled); got != 0 {
		t.Errorf("after Reset found %d", got)
	}
	j.Append(journal.Record{Kind: journal.Settled})
	if got := first(1, journal.Settled); got != 1 {
		t.Errorf("the first after Reset: found %d", got)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	j := journal.New(fixed, nil)
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan journal.Record, 1)
	go func() {
		r, err := j.Wait(ctx, func(r *journal.Record) bool { return r.Kind == journal.Settled })
		if err != nil {
			t.Errorf("Wait: %v", err)
		}
		got <- r
	}()
	j.Append(journal.Record{Kind: journal.Received})
	j.Append(journal.Record{Kind: journal.Settled})
	if r := <-got; r.Seq != 2 {
		t.Errorf("Wait = seq %d, want 2", r.Seq)
	}
	cancel()
	if _, err := j.Wait(ctx, func(*journal.Record) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait with an ended context = %v", err)
	}
}

func TestConcurrentReaders(t *testing.T) {
	t.Parallel()
	const n = 2000
	j := journal.New(fixed, nil)
	var wg sync.WaitGroup
	for range 4 {
		s := j.Subscribe(1)
		wg.Go(func() {
			defer s.Close()
			for want := uint64(1); want <= n; want++ {
				r, missed, err := s.Next(context.Background())
				if err != nil || missed != 0 || r.Seq != want {
					t.Errorf("Next = seq %d, missed %d, %v; want %d", r.Seq, missed, err, want)
					return
				}
			}
		})
	}
	for range n {
		j.Append(journal.Record{Kind: journal.Enqueued})
	}
	wg.Wait()
}

func BenchmarkAppend(b *testing.B) {
	j := journal.New(fixed, nil)
	b.ReportAllocs()
	for b.Loop() {
		j.Append(journal.Record{Kind: journal.AttemptStarted, Function: "Orders", Delivery: "d-1", Attempt: 1})
	}
}

func BenchmarkAppendLine(b *testing.B) {
	r := journal.Record{Seq: 77, Time: start, Kind: journal.AttemptStarted, Function: "Orders", Delivery: "d-1", Attempt: 1, HasPolicy: true, MaxRetryCount: 4}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = r.AppendLine(buf[:0])
	}
}

// Unusual values come back unchanged.
func TestOddRecords(t *testing.T) {
	t.Parallel()
	var now time.Time
	j := journal.New(func() time.Time { return now }, nil)
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	times := []time.Time{
		begin, begin.Add(-time.Hour), begin.In(time.FixedZone("east", 3600)), {},
		time.Date(1200, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999, time.UTC),
	}
	var want []journal.Record
	for i := range 600 { // more kinds, states and records than one chunk has room for
		r := journal.Record{
			Seq: uint64(i + 1), Time: times[i%len(times)], Kind: journal.Kind(fmt.Sprint("kind", i)),
			Status: fmt.Sprint("status", i%7), Attempt: i * (math.MaxInt32 / 100), Error: fmt.Sprint("error", i/3%5),
			Delivery: fmt.Sprint("d", i%100),
		}
		if i%5 == 0 {
			r.Error, r.Name = "", fmt.Sprint("name", i)
		}
		now = r.Time
		j.Append(r)
		want = append(want, r)
	}
	got := j.Records()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	for _, w := range want {
		r, ok := j.FindKind(1, w.Kind, func(*journal.Record) bool { return true })
		if !ok || r.Seq != w.Seq {
			t.Errorf("FindKind(%s) = record %d, %v; want record %d", w.Kind, r.Seq, ok, w.Seq)
		}
	}
	for i, r := range got {
		if g, w := r.Time.String(), want[i].Time.String(); g != w { // the time zone too
			t.Errorf("record %d has the time %s, want %s", r.Seq, g, w)
		}
	}
}

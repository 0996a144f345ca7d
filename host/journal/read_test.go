package journal_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/journal"
)

// A line leads back to its record, each field by itself and all together.
func TestRead(t *testing.T) {
	t.Parallel()
	all := journal.Record{Seq: 7, Time: start.Truncate(100), Kind: journal.AttemptEnded, Attempt: 3, HasPolicy: true, HasDelay: true, Delay: 90 * time.Second}
	for i := range reflect.TypeFor[journal.Record]().NumField() {
		r := journal.Record{Seq: 7, Time: start.Truncate(100), Kind: journal.AttemptEnded}
		switch name := reflect.TypeFor[journal.Record]().Field(i).Name; name {
		case "Seq", "Time", "Kind", "HasPolicy", "HasDelay", "Delay", "Beside":
			continue
		case "MaxRetryCount":
			r.HasPolicy = true
		}
		setField(reflect.ValueOf(&r).Elem().Field(i), 4)
		setField(reflect.ValueOf(&all).Elem().Field(i), 5)
		readsBack(t, r)
	}
	all.Fields = append(all.Fields, journal.Field{Key: "a", Value: "\x00 \"ü\n"}, journal.Field{Key: "k", Value: ""})
	readsBack(t, all)
	readsBack(t, journal.Record{Seq: 1, Time: start.Truncate(100), Kind: journal.ProcessStarted, Beside: journal.Beside{PID: 77}})
	readsBack(t, journal.Record{Seq: 1, Time: start.Truncate(100), Kind: journal.RetryScheduled, HasDelay: true})

	for line, want := range map[string]string{
		`{"seq":1`:                       "unexpected end",
		`{"seq":1,"delay":"soon"}`:       "delay: ",
		`{"seq":1,"fields":["a"]}`:       "fields: want an object",
		`{"seq":1,"fields":{"a":1}}`:     "fields.a: ",
		`{"seq":1,"kind":"x","new":[1]}`: "",
	} {
		_, err := journal.Read([]byte(line))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Read(%s): %v, want %q", line, err, want)
		}
	}
}

func readsBack(t *testing.T, r journal.Record) {
	t.Helper()
	got, err := journal.Read(r.AppendLineWithPID(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, r); diff != "" {
		t.Errorf("Read of %s (-got +want):\n%s", r, diff)
	}
}

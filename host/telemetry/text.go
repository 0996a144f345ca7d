package telemetry

import (
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/host/journal"
)

// The most that a collector is sent of one text, and of all the texts of a record, in
// bytes: collectors take requests of a limited size, over gRPC 4 MiB, and a record may be
// told in two spans, with its error twice in one of them.
const (
	mostOfText   = 256 << 10
	mostOfRecord = 1 << 20
)

// clean makes the texts of a record what the protocols and collectors take: UTF-8, and not
// too long. One wrong text would lose the whole batch that it is in. Senders and handlers
// write what they like.
func clean(r *journal.Record) {
	room := mostOfRecord
	for _, text := range [...]*string{
		&r.Function, &r.Trigger, &r.Source, &r.Delivery, &r.Invocation, &r.MessageID, &r.Status, &r.Decision,
		&r.Target, &r.Cause, &r.Error, &r.Level, &r.Message, &r.Name, &r.Beside.Stack,
	} {
		*text = taken(*text, &room)
	}
	var fields []journal.Field // those of the journal stay as they are
	for i, f := range r.Fields {
		clean := journal.Field{Key: taken(f.Key, &room), Value: taken(f.Value, &room)}
		if fields == nil && clean != f {
			fields = append(make([]journal.Field, 0, len(r.Fields)), r.Fields[:i]...)
		}
		if fields != nil {
			fields = append(fields, clean)
		}
	}
	if fields != nil {
		r.Fields = fields
	}
}

// taken is what is sent of a text, where there is room for so many bytes yet.
func taken(text string, room *int) string {
	if most := min(mostOfText, *room); len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most] + "…"
	}
	text = valid(text)
	*room = max(*room-len(text), 0)
	return text
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

package telemetry

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/host/journal"
)

// clean makes the texts of a record UTF-8, as the protocols ask: one wrong text would lose
// the whole batch that it is in. Senders and handlers write what they like.
func clean(r *journal.Record) {
	for _, text := range [...]*string{
		&r.Function, &r.Trigger, &r.Source, &r.Delivery, &r.Invocation, &r.MessageID, &r.Status, &r.Decision,
		&r.Target, &r.Cause, &r.Error, &r.Level, &r.Message, &r.Name, &r.Beside.Stack,
	} {
		*text = valid(*text)
	}
	wrong := func(f journal.Field) bool { return !utf8.ValidString(f.Key) || !utf8.ValidString(f.Value) }
	if slices.ContainsFunc(r.Fields, wrong) {
		r.Fields = slices.Clone(r.Fields) // those of the journal stay as they are
		for i, f := range r.Fields {
			r.Fields[i] = journal.Field{Key: valid(f.Key), Value: valid(f.Value)}
		}
	}
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

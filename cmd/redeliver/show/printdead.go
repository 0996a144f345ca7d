package show

import (
	"strconv"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
)

// deadLetter is the record of the message's end as a dead letter, which the end of a delivery
// tells; nil where that has made none.
func deadLetter(lives []explain.Part) *journal.Record {
	for _, l := range lives {
		if l.Delivery != nil && l.Delivery.Dead != nil {
			return l.Delivery.Dead
		}
	}
	return nil
}

// deadLetterText says where a dead letter is and why.
func deadLetterText(rec *journal.Record) string {
	return join("to "+strconv.Quote(rec.Target), rec.Cause)
}

// sessionText names the session that a record is about, if it is about one.
func sessionText(rec *journal.Record) string {
	for _, f := range rec.Fields {
		if f.Key == "session" {
			return "session " + strconv.Quote(f.Value)
		}
	}
	return ""
}

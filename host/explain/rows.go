package explain

import (
	"fmt"
	"strconv"

	"github.com/redeliver/redeliver/host/journal"
)

// rows are the records among which there are those of writes to tables.
type rows []journal.Record

// words tells a write of a table output: of a row that was there already also who wrote it.
func (all rows) words(r *journal.Record) string {
	partition := strconv.Quote(field(r, "partition_key"))
	if r.Status == "succeeded" {
		text := "1 entity"
		if n := field(r, "entities"); n != "1" {
			text = n + " entities"
		}
		text = fmt.Sprintf("table %s: %s of partition %s written", r.Target, text, partition)
		if field(r, "created_table") != "" {
			text += " to a new table"
		}
		return text
	}
	row := field(r, "row_key")
	if row == "" {
		return fmt.Sprintf("table %s refuses partition %s: %s", r.Target, partition, r.Error)
	}
	text := fmt.Sprintf("table %s refuses row %q of partition %s: %s", r.Target, row, partition, r.Error)
	at := field(r, "written_at")
	if at == "" {
		return text
	}
	text += "; the row was written at " + at
	if w := all.writer(r, at); w != nil {
		return text + fmt.Sprintf(" by attempt %d of delivery %s%s", w.Attempt, w.Delivery, ofFunction(w, r))
	}
	return text + ", not by an output that the journal has"
}

// writer is the record of the transaction that gave a row its Timestamp, nil when there is
// none.
func (all rows) writer(r *journal.Record, at string) *journal.Record {
	for i := len(all) - 1; i >= 0; i-- {
		w := &all[i]
		if w.Kind == journal.TableWritten && w.Status == "succeeded" && w.Target == r.Target &&
			field(w, "partition_key") == field(r, "partition_key") && field(w, "timestamp") == at {
			return w
		}
	}
	return nil
}

func ofFunction(w, r *journal.Record) string {
	if w.Function == r.Function {
		return ""
	}
	return ", function " + w.Function
}

package show

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/journal"
)

// eventAttempted tells an attempt at a web hook: what it answered, and when it is
// asked again. Attempts at functions have lines of their own.
func (p *Printer) eventAttempted(rec *journal.Record) string {
	if rec.Function != "" {
		return p.verbose(rec, "event attempted", rec.Status)
	}
	answer := rec.Status
	if i := slices.IndexFunc(rec.Fields, func(f journal.Field) bool { return f.Key == "http_status" }); i >= 0 {
		answer = join(rec.Fields[i].Value, answer)
	}
	colour, next := cli.Red, ""
	switch {
	case rec.Status == "Delivered":
		colour = cli.Green
	case rec.HasDelay:
		next = "again in " + cli.RoundTime(rec.Delay)
	}
	return p.counted(rec, colour, "web hook called", deliveryCount(rec), cli.Cell{Text: join(answer, rec.Message, next)})
}

// Answered is the status that the caller got at the end of a delivery, if any, and
// whether it tries again: Event Grid does, whose events have an identity.
func Answered(rec *journal.Record) (text string, refused bool) {
	i := slices.IndexFunc(rec.Fields, func(f journal.Field) bool { return f.Key == "http_status" })
	if i < 0 {
		return "", false
	}
	return "with " + rec.Fields[i].Value, rec.MessageID != "" && !strings.HasPrefix(rec.Fields[i].Value, "2")
}

package document

import (
	"strings"
	"time"
)

// UTCTime reads a time, of which the schema has seen that it is one; without a zone
// it is UTC.
func UTCTime(text string) time.Time {
	text = strings.ToUpper(strings.Replace(text, " ", "T", 1))
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		for _, zone := range []string{"Z07:00", ""} {
			if t, err := time.Parse(layout+zone, text); err == nil { // fractions of a second too
				return t.UTC()
			}
		}
	}
	return time.Time{}
}

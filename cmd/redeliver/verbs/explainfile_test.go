package verbs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
)

// A host that is killed leaves a line that it has not finished: the journal is read up to it.
func TestJournalOfKilledHost(t *testing.T) {
	t.Parallel()
	const whole = `{"seq":1,"time":"2030-01-01T00:00:00Z","kind":"host_started"}` + "\n"
	for _, row := range []struct {
		name, text string
		records    int
		said       string // on the standard error, or the error
	}{
		{"whole", whole + whole, 2, ""},
		{"without the end of its line", whole + strings.TrimSpace(whole), 2, ""},
		{"cut off", whole + whole[:30], 1, "-:2: the last line is cut off, and left out"},
		{"cut off in the middle", whole + whole[:30] + "\n" + whole, 0, "-:2: this is no line of a journal"},
		{"something else at the end", whole + "Killed", 0, "-:2: this is no line of a journal"},
		{"nothing but a beginning", whole[:30], 0, "-:1: this is no line of a journal"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var said bytes.Buffer
			records, err := readJournal(cli.Streams{In: strings.NewReader(row.text), Out: &said, Err: &said}, "-")
			if err != nil {
				said.WriteString(err.Error())
			}
			if len(records) != row.records || !strings.Contains(said.String(), row.said) || row.said == "" && said.Len() > 0 {
				t.Errorf("%d records, %q, want %d and %q", len(records), said.String(), row.records, row.said)
			}
		})
	}
}

package kit

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
)

// Expect compares what has happened with the "then" of a scenario. It moves no time. What does
// not hold is an answer, and no refusal: a refusal means that the question was wrong.
type Expect struct {
	ops.Op[Compared] `route:"POST /hosts/{id}/expect" body:"json"`

	ID   string         `path:"id" json:"-"`
	Then map[string]any `json:"then"`
}

// Compared is what does not hold; without failures all does.
type Compared struct {
	Failures []Failure `json:"failures,omitempty"`
	Text     string    `json:"text,omitempty"`  // all of them for a person, with timelines and the seed
	Logs     []LogLine `json:"logs,omitempty"`  // of the handlers, the last 50
	Again    string    `json:"again,omitempty"` // how the same run is had again
}

// Do implements the operation.
func (in Expect) Do(ctx context.Context, h *Host) (out Compared, err error) {
	err = h.alone(ctx, func() error {
		list, faults := h.session.Expect(in.Then)
		if len(faults) > 0 {
			return invalid(BadRequest, faults)
		}
		if len(list) == 0 && h.untouched() {
			return refuse(http.StatusBadRequest, BadRequest, "nothing has been done with this host, and it holds whatever the app does").hinted("send, call or move time before: what is expected is compared with what has happened until now")
		}
		if len(list) == 0 {
			return nil
		}
		out.Failures, out.Logs = failures(list), lastLogs(h.session.Records())
		out.Again = fmt.Sprintf("REDELIVER_SEED=%d", h.seed)
		out.Text = text(out.Failures) + without(h.session.Records()) + fmt.Sprintf("\nseed %d; again with %s", h.seed, out.Again)
		return nil
	})
	return out, err
}

// untouched reports whether nothing has happened since the host has started, and the test has
// done nothing with it.
func (h *Host) untouched() bool {
	return !h.touched.Load() && h.session.Host().Journal().Len() == h.fresh
}

// text is failures for a person.
func text(list []Failure) string {
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		if f.Path != "" {
			b.WriteString(f.Path + ": ")
		}
		b.WriteString(f.Message)
		if f.Want != "" || f.Got != "" {
			fmt.Fprintf(&b, "\n  want  %s\n  got   %s", f.Want, f.Got)
		}
		for _, line := range f.Timeline {
			b.WriteString("\n    " + line)
		}
	}
	return b.String()
}

// folded is a timeline in which neighbours that say the same about other attempts are one
// line: the first two and the last of a row stay.
func folded(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && alike(lines[i]) != "" && alike(lines[i]) == alike(lines[i+n]) {
			n++
		}
		if n <= 3 {
			out = append(out, lines[i:i+n]...)
		} else {
			out = append(out, lines[i], lines[i+1], fmt.Sprintf("  … %d more like this …", n-3), lines[i+n-1])
		}
		i += n
	}
	return out
}

// alike is what is equal in lines of attempts that fail in one way; empty: the line is of none.
func alike(line string) string {
	_, rest, ok := strings.Cut(line, "attempt ")
	if !ok {
		return ""
	}
	digits := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}
	rest, _, _ = strings.Cut(rest, "; policy:")
	return "attempt " + strings.Map(digits, rest)
}

// LogLine is a line that a handler wrote.
type LogLine struct {
	Function   string `json:"function,omitempty"`
	Invocation string `json:"invocation,omitempty"`
	Level      string `json:"level,omitempty"`
	Text       string `json:"text"`
}

// mostLogs is how many lines of handlers are shown with a failure.
const mostLogs = 50

func lastLogs(records []journal.Record) []LogLine {
	var out []LogLine
	for _, r := range records {
		if r.Kind == journal.HandlerLog {
			out = append(out, LogLine{r.Function, r.Invocation, r.Level, r.Message})
		}
	}
	return out[max(len(out)-mostLogs, 0):]
}

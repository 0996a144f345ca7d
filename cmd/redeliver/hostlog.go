package main

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
)

// newLog returns the logger of a host: lines on the standard error with the clock
// of the journal. now gives the clock's time.
func newLog(out *console, verbose bool, now func() time.Time) zerolog.Logger {
	level := zerolog.WarnLevel
	if verbose {
		level = zerolog.DebugLevel
	}
	painter := &console{colour: coloured(out.err)}
	w := zerolog.ConsoleWriter{
		Out: logLines{out, terminal(out.err)}, NoColor: !painter.colour,
		FormatPrepare: func(line map[string]any) error { // values are quoted already
			if text, ok := line[zerolog.MessageFieldName].(string); ok {
				line[zerolog.MessageFieldName] = printableLines(text)
			}
			return nil
		},
		FormatTimestamp: func(t any) string {
			text, _ := t.(string)
			return painter.paint(dim, text) + " "
		},
	}
	return zerolog.New(w).Level(level).Hook(zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str(zerolog.TimestampFieldName, now().Local().Format(clockLayout))
	}))
}

// logLines writes lines of the log, broken where a terminal ends.
type logLines struct {
	out      *console
	terminal *os.File // or nil
}

// Write writes one line.
func (l logLines) Write(line []byte) (int, error) {
	text := string(line)
	if l.terminal != nil {
		if limit := terminalColumns(l.terminal); limit >= minColumns {
			text = wrap(text, 0, len(clockLayout)+len(gap), limit)
		}
	}
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	if _, err := io.WriteString(l.out.err, text); err != nil {
		return 0, err
	}
	return len(line), nil
}

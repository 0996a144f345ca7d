package show

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
)

// NewLog returns the logger of a host: lines on the standard error with the clock
// of the journal. now gives the clock's time.
func NewLog(out *cli.Console, verbose bool, now func() time.Time) zerolog.Logger {
	level := zerolog.WarnLevel
	if verbose {
		level = zerolog.DebugLevel
	}
	painter := &cli.Console{Colour: cli.Coloured(out.Err)}
	w := zerolog.ConsoleWriter{
		Out: logLines{out, cli.Terminal(out.Err)}, NoColor: !painter.Colour,
		FormatPrepare: func(line map[string]any) error { // values are quoted already
			if text, ok := line[zerolog.MessageFieldName].(string); ok {
				line[zerolog.MessageFieldName] = cli.PrintableLines(text)
			}
			return nil
		},
		FormatTimestamp: func(t any) string {
			text, _ := t.(string)
			return painter.Paint(cli.Dim, text) + " "
		},
	}
	return zerolog.New(w).Level(level).Hook(zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str(zerolog.TimestampFieldName, now().Local().Format(clockLayout))
	}))
}

// logLines writes lines of the log, broken where a terminal ends.
type logLines struct {
	out      *cli.Console
	terminal *os.File // or nil
}

// Write writes one line.
func (l logLines) Write(line []byte) (int, error) {
	text := string(line)
	if l.terminal != nil {
		if limit := cli.TerminalColumns(l.terminal); limit >= cli.MinColumns {
			text = cli.Wrap(text, 0, len(clockLayout)+len(cli.Gap), limit)
		}
	}
	l.out.Mu.Lock()
	defer l.out.Mu.Unlock()
	if _, err := io.WriteString(l.out.Err, text); err != nil {
		return 0, err
	}
	return len(line), nil
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
)

// Rules for what the commands write.
//
//   - The standard output holds what was asked for: the report, the messages, the
//     journal. Everything said about the work goes to the standard error, as
//     "redeliver: error: ...", "redeliver: warning: ..." or "redeliver: hint: ...".
//   - An error is one line (a build's output follows on lines of its own), and
//     wherever possible a hint names the next command to type or file to change.
//   - Colour only repeats what the words say. It is used when the output is a
//     terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb".
//   - Lines are written whole, so that several writers never mix within one.
//   - Secrets are written by "redeliver keys" and by nothing else.

// console writes to the two outputs by these rules. Its methods may be called
// concurrently.
type console struct {
	colour bool // of the standard output

	mu       sync.Mutex
	out, err io.Writer
}

// newConsole returns a console for std. plain turns colour off.
func newConsole(std streams, plain bool) *console {
	return &console{out: std.out, err: std.err, colour: !plain && coloured(std.out)}
}

// coloured reports whether w is a terminal that wants colour.
func coloured(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	if runtime.GOOS == "windows" && os.Getenv("WT_SESSION") == "" && os.Getenv("TERM") == "" {
		return false // an old console, which shows escape sequences as text
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// The colours, as parameters of the escape sequence "select graphic rendition".
const (
	red     = "31"
	green   = "32"
	yellow  = "33"
	magenta = "35"
	bold    = "1"
	dim     = "2"
)

// paint colours a text.
func (c *console) paint(sgr, text string) string {
	if !c.colour || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// print writes text to the standard output, in one piece.
func (c *console) print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.WriteString(c.out, text) // nobody is left to tell
}

func (c *console) printf(format string, args ...any) { c.print(fmt.Sprintf(format, args...)) }

// say writes one line about the work to the standard error.
func (c *console) say(kind, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = fmt.Fprintf(c.err, "redeliver: %s: %s\n", kind, strings.TrimRight(text, "\n"))
}

func (c *console) warn(text string) { c.say("warning", text) }

func (c *console) hint(text string) {
	if text != "" {
		c.say("hint", text)
	}
}

// fail writes an error and its hint.
func (c *console) fail(err error) {
	c.say("error", err.Error())
	var h *hintedError
	if errors.As(err, &h) {
		c.hint(h.hint)
	}
}

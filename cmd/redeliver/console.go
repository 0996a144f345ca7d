package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/term"
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
//   - On a terminal a long line is broken between words and goes on indented;
//     elsewhere a fact is one line.
//   - Lines are written whole, so that several writers never mix within one.
//   - Foreign text is shown with its control characters in Go's notation
//     (escape.go): it can neither steer the terminal nor imitate a line of the program.
//   - Secrets are written by "redeliver keys" and by nothing else.

// console writes to the two outputs by these rules. Its methods may be called
// concurrently.
type console struct {
	colour   bool     // of the standard output
	terminal *os.File // the standard output, when it is one and lines are to fit

	mu       sync.Mutex
	out, err io.Writer
	holding  bool // what is printed
	held     []byte
}

// newConsole returns a console for std. plain turns colour off.
func newConsole(std streams, plain bool) *console {
	c := &console{out: std.out, err: std.err}
	if !plain {
		c.colour, c.terminal = coloured(std.out), terminal(std.out)
	}
	return c
}

// columns is the width of the terminal, or 0 when lines need not fit.
func (c *console) columns() int {
	if c.terminal == nil {
		return 0
	}
	return terminalColumns(c.terminal)
}

// output is the standard output. It remembers a failed write: the answer is then
// not complete, and the exit code says so.
type output struct {
	io.Writer
	failed atomic.Pointer[error] // the first failure
	broken func()                // is told of it; set before anything is written
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		err = fmt.Errorf("cannot write the standard output: %w", reason(err))
		if o.failed.CompareAndSwap(nil, &err) && o.broken != nil {
			o.broken()
		}
	}
	return n, err
}

// failure is the first failure, or nil.
func (o *output) failure() error {
	if err := o.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// terminal returns w when it is a terminal, else nil.
func terminal(w io.Writer) *os.File {
	if o, ok := w.(*output); ok {
		w = o.Writer
	}
	if o, ok := w.(*outlet); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}

// terminalColumns is the width of the terminal that f is, or 0.
func terminalColumns(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// coloured reports whether w is a terminal that wants colour.
func coloured(w io.Writer) bool {
	if terminal(w) == nil || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	// An old console of Windows shows escape sequences as text.
	return runtime.GOOS != "windows" || os.Getenv("WT_SESSION") != "" || os.Getenv("TERM") != ""
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
	if !c.colour || text == "" || sgr == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// print writes text to the standard output, in one piece.
func (c *console) print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holding {
		c.held = append(c.held, text...)
		return
	}
	_, _ = io.WriteString(c.out, text) // the end of the program tells
}

// hold keeps what is printed from now on, for release or for whatever else is written.
func (c *console) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = true
}

// release writes what was kept, in one piece.
func (c *console) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.releaseLocked()
	c.holding = false
}

func (c *console) releaseLocked() {
	if len(c.held) > 0 {
		_, _ = c.out.Write(c.held) // the end of the program tells
		c.held = c.held[:0]
	}
}

// printf writes text to the standard output; text among the arguments becomes
// printable.
func (c *console) printf(format string, args ...any) { c.print(textf(format, args...)) }

// data writes an answer as dataOut does.
func (c *console) data(answer []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.releaseLocked()
	w := dataOut(c.out)
	_, _ = w.Write(answer) // the end of the program tells
	_ = w.Close()
}

// say writes one line about the work to the standard error.
func (c *console) say(kind, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.releaseLocked()
	_, _ = fmt.Fprintf(c.err, "redeliver: %s: %s\n", kind, strings.TrimRight(printableLines(text), "\n"))
}

// overEcho lets the next line begin over the "^C" that a terminal shows.
func (c *console) overEcho() {
	if terminal(c.err) != nil {
		_, _ = io.WriteString(c.err, "\r")
	}
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

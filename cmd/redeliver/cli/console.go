package cli

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

	"github.com/redeliver/redeliver/cmd/redeliver/catalogue"
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

// Console writes to the two outputs by these rules. Its methods may be called
// concurrently.
type Console struct {
	Colour   bool     // of the standard output
	terminal *os.File // the standard output, when it is one and lines are to fit

	Mu       sync.Mutex
	Out, Err io.Writer
	holding  bool // what is printed

	// Naming puts the identity of an entry of the manual, such as, behind what has one. It
	// is set before the console is used.
	Naming bool
	held   []byte
}

// NewConsole returns a console for std. plain turns colour off.
func NewConsole(std Streams, plain bool) *Console {
	c := &Console{Out: std.Out, Err: std.Err}
	if !plain {
		c.Colour, c.terminal = Coloured(std.Out), Terminal(std.Out)
	}
	return c
}

// Columns is the width of the terminal, or 0 when lines need not fit.
func (c *Console) Columns() int {
	if c.terminal == nil {
		return 0
	}
	return TerminalColumns(c.terminal)
}

// Output is the standard output. It remembers a failed write: the answer is then
// not complete, and the exit code says so.
type Output struct {
	io.Writer
	failed atomic.Pointer[error] // the first failure
	Broken func()                // is told of it; set before anything is written
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		err = fmt.Errorf("cannot write the standard output: %w", Reason(err))
		if o.failed.CompareAndSwap(nil, &err) && o.Broken != nil {
			o.Broken()
		}
	}
	return n, err
}

// Failure is the first failure, or nil.
func (o *Output) Failure() error {
	if err := o.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Terminal returns w when it is a terminal, else nil.
func Terminal(w io.Writer) *os.File {
	if o, ok := w.(*Output); ok {
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

// TerminalColumns is the width of the terminal that f is, or 0.
func TerminalColumns(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Coloured reports whether w is a terminal that wants colour.
func Coloured(w io.Writer) bool {
	if Terminal(w) == nil || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	// An old console of Windows shows escape sequences as text.
	return runtime.GOOS != "windows" || os.Getenv("WT_SESSION") != "" || os.Getenv("TERM") != ""
}

// The colours, as parameters of the escape sequence "select graphic rendition".
const (
	Red     = "31"
	Green   = "32"
	Yellow  = "33"
	Magenta = "35"
	Bold    = "1"
	Dim     = "2"
)

// Paint colours a text.
func (c *Console) Paint(sgr, text string) string {
	if !c.Colour || text == "" || sgr == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// Print writes text to the standard output, in one piece.
func (c *Console) Print(text string) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.holding {
		c.held = append(c.held, text...)
		return
	}
	_, _ = io.WriteString(c.Out, text) // the end of the program tells
}

// Hold keeps what is printed from now on, for release or for whatever else is written.
func (c *Console) Hold() {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.holding = true
}

// Release writes what was kept, in one piece.
func (c *Console) Release() {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.releaseLocked()
	c.holding = false
}

func (c *Console) releaseLocked() {
	if len(c.held) > 0 {
		_, _ = c.Out.Write(c.held) // the end of the program tells
		c.held = c.held[:0]
	}
}

// Printf writes text to the standard output; text among the arguments becomes
// printable.
func (c *Console) Printf(format string, args ...any) { c.Print(Textf(format, args...)) }

// Data writes an answer as DataOut does.
func (c *Console) Data(answer []byte) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.releaseLocked()
	w := DataOut(c.Out)
	_, _ = w.Write(answer) // the end of the program tells
	_ = w.Close()
}

// Say writes one line about the work to the standard error.
func (c *Console) Say(kind, text string) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.releaseLocked()
	if e, ok := catalogue.Find(text); ok && c.Naming {
		text = strings.TrimRight(text, "\n") + " [" + e.ID + "]"
	}
	_, _ = fmt.Fprintf(c.Err, "redeliver: %s: %s\n", kind, strings.TrimRight(PrintableLines(text), "\n"))
}

// OverEcho lets the next line begin over the "^C" that a terminal shows.
func (c *Console) OverEcho() {
	if Terminal(c.Err) != nil {
		_, _ = io.WriteString(c.Err, "\r")
	}
}

// Warn says a warning on the standard error.
func (c *Console) Warn(text string) { c.Say("warning", text) }

// Hint says the next thing to do on the standard error.
func (c *Console) Hint(text string) {
	if text != "" {
		c.Say("hint", text)
	}
}

// Fail writes an error and its hint.
func (c *Console) Fail(err error) {
	c.Say("error", err.Error())
	var h *HintedError
	if errors.As(err, &h) {
		c.Hint(h.Hint)
	}
}

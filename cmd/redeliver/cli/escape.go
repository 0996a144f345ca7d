package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bodies, identifiers, errors and log lines come from anywhere, and a
// terminal obeys control characters: one could rewrite the screen, and a
// line break could imitate a line of the program. They are therefore shown
// in Go's notation, "\x1b" and "\n". Answers in JSON have a notation of
// their own.

// Printable is a text for one line.
func Printable(s string) string { return escape(s, "") }

// PrintableLines is a text of several lines: line breaks and tabs stay.
func PrintableLines(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

// Block is a text of several lines, those after the first indented.
func Block(s, indent string) lines {
	return lines(strings.ReplaceAll(PrintableLines(s), "\n", "\n"+indent))
}

// lines is text that is printable as it is.
type lines string

// escape shows the characters that a terminal would obey, except the ones to keep.
func escape(s, keep string) string {
	if strings.IndexFunc(s, func(r rune) bool { return obeyed(r) && !strings.ContainsRune(keep, r) }) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, `\x%02x`, s[i])
				continue
			}
		}
		switch {
		case !obeyed(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// obeyed reports whether a terminal does something else with a character than show
// it: controls, changes of the writing direction, line separators.
func obeyed(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// Textf is fmt.Sprintf for what people read: text among the arguments becomes
// printable, in one line unless it is lines.
func Textf(format string, args ...any) string {
	shown := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case lines:
			shown[i] = string(v)
		case string:
			shown[i] = foreign(v)
		case error:
			shown[i] = foreign(v.Error())
		case fmt.Stringer:
			shown[i] = foreign(v.String())
		default:
			shown[i] = arg
		}
	}
	return fmt.Sprintf(format, shown...)
}

// Writef appends a formatted text for people.
func Writef(b *strings.Builder, format string, args ...any) {
	b.WriteString(Textf(format, args...))
}

// foreign is text from another author.
type foreign string

// Format implements fmt.Formatter. The verb q quotes what is meant.
func (s foreign) Format(f fmt.State, verb rune) {
	text := string(s)
	if verb != 'q' {
		text = Printable(text)
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), text)
}

// escaper makes printable what is written through it to a terminal, with the line
// breaks and tabs that it has.
type escaper struct {
	w    io.Writer
	rest []byte // the beginning of a character
}

// Write implements io.Writer.
func (e *escaper) Write(p []byte) (int, error) {
	text := append(e.rest, p...)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if at := len(text) - i; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				whole = at
			}
			break
		}
	}
	e.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(e.w, PrintableLines(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes the rest of an incomplete character.
func (e *escaper) Close() error {
	_, err := io.WriteString(e.w, PrintableLines(string(e.rest)))
	return err
}

// DataOut is where the data itself is written that was asked for: as it is into a
// file or a pipe, printable to a terminal. Close it after the last byte.
func DataOut(w io.Writer) io.WriteCloser {
	if Terminal(w) == nil {
		return asItIs{w}
	}
	return &escaper{w: w}
}

// asItIs writes its input unchanged.
type asItIs struct{ io.Writer }

// Close does nothing: the writer is the caller's.
func (asItIs) Close() error { return nil }

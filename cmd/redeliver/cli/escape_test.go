package cli

import (
	"errors"
	"strings"
	"testing"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, one, many string }{
		{"plain ß 漢 🙂 \u200d", "plain ß 漢 🙂 \u200d", "plain ß 漢 🙂 \u200d"},
		{"\x1b]0;title\a\x1b[2J", `\x1b]0;title\x07\x1b[2J`, `\x1b]0;title\x07\x1b[2J`},
		{"a\r\nb\tc\rd", `a\r\nb\tc\rd`, "a\nb\tc" + `\rd`},
		{"\u009b31m\u202eabc\u2066\u2028", `\u009b31m\u202eabc\u2066\u2028`, `\u009b31m\u202eabc\u2066\u2028`},
		{"\xff\xfeok\ufffd", `\xff\xfeok` + "\ufffd", `\xff\xfeok` + "\ufffd"},
		{"\x7f\x00", `\x7f\x00`, `\x7f\x00`},
	} {
		if got := Printable(test.text); got != test.one {
			t.Errorf("printable(%q) = %q, want %q", test.text, got, test.one)
		}
		if got := PrintableLines(test.text); got != test.many {
			t.Errorf("printableLines(%q) = %q, want %q", test.text, got, test.many)
		}
	}
}

func TestTextf(t *testing.T) {
	t.Parallel()
	got := Textf("%s %q %-4s|%d %v %s %s", "a\nb", "c\nd", "e", 7, errors.New("f\x1b"), Block("g\nh\x1b", "  "), "")
	if want := `a\nb "c\nd" e   |7 f\x1b g` + "\n  h" + `\x1b `; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A text that is written in pieces which end within a character is the same as
// in one piece.
func TestEscaper(t *testing.T) {
	t.Parallel()
	text := "ß漢🙂\x1b[2J\r\nend\xe6\xbc"
	for size := 1; size <= len(text); size++ {
		var b strings.Builder
		e := &escaper{w: &b}
		for i := 0; i < len(text); i += size {
			if _, err := e.Write([]byte(text[i:min(i+size, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		want := `ß漢🙂\x1b[2J`
		if got := b.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `end\xe6\xbc`) || strings.ContainsAny(got, "\x1b") {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}

// Nothing is painted where no colour was asked for.
func TestPaintNothing(t *testing.T) {
	t.Parallel()
	c := &Console{Colour: true}
	if got := c.Paint("", "text"); got != "text" {
		t.Errorf("got %q", got)
	}
	if got, want := c.Lay(0, 1, Cell{Text: "a\x1b[2J", Width: 9}, Cell{Text: "b\nc\a", Sgr: Red}), `a\x1b[2J`; !strings.HasPrefix(got, want) || strings.Contains(got, "\a") {
		t.Errorf("got %q", got)
	}
}

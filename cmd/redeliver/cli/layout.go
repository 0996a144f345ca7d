package cli

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Cell is a piece of a line. A width above 0 pads it when another cell follows:
// that makes columns.
type Cell struct {
	Text, Sgr string
	Width     int
}

// Gap stands between two cells.
const Gap = "  "

// MinColumns is the narrowest terminal that has room for columns, and narrowIndent
// what the further lines of one are indented by in a narrower one.
const (
	MinColumns   = 60
	narrowIndent = 4
)

// Lay puts cells into a line of at most limit columns; 0 means no limit. A cell
// that does not fit goes to the next line, below the one numbered under, and is
// broken between words where even that is too short. Where there is no room for
// columns the cells just follow each other.
func (c *Console) Lay(limit, under int, cells ...Cell) string {
	cells = printableCells(cells)
	indent := 0
	for _, cl := range cells[:under] {
		indent += max(cl.Width, utf8.RuneCountInString(cl.Text)) + len(Gap)
	}
	if limit > 0 && (limit < MinColumns || limit < 2*indent) {
		return c.flow(limit, cells)
	}
	var b strings.Builder
	column, pending := 0, 0 // of the line; blanks that a next cell wants before it
	for i, cl := range cells {
		if cl.Text == "" && cl.Width == 0 {
			continue
		}
		n := utf8.RuneCountInString(cl.Text)
		if i > under && limit > 0 && column > indent && column+pending+n > limit {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column, pending = indent, 0
		}
		if cl.Text != "" {
			b.WriteString(strings.Repeat(" ", pending))
			column, pending = column+pending, 0
			text := cl.Text
			if strings.Contains(text, "\n") {
				text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", indent))
			} else {
				text = Wrap(text, column, indent, limit)
			}
			b.WriteString(c.Paint(cl.Sgr, text))
			if at := strings.LastIndexByte(text, '\n'); at >= 0 {
				column, n = 0, utf8.RuneCountInString(text[at+1:])
			}
			column += n
		}
		pending += max(cl.Width-n, 0) + len(Gap)
	}
	return b.String()
}

// printableCells are the cells with text that can be shown: in one line where they
// make a column.
func printableCells(cells []Cell) []Cell {
	cells = slices.Clone(cells)
	for i := range cells {
		if cells[i].Width > 0 {
			cells[i].Text = Printable(cells[i].Text)
		} else {
			cells[i].Text = PrintableLines(cells[i].Text)
		}
	}
	return cells
}

// flow puts cells one after the other, without columns, in lines of at most limit
// columns.
func (c *Console) flow(limit int, cells []Cell) string {
	var b strings.Builder
	column := 0
	for _, cl := range cells {
		if cl.Text == "" {
			continue
		}
		word, _, _ := strings.Cut(cl.Text, " ")
		switch {
		case b.Len() == 0:
		case column+len(Gap)+utf8.RuneCountInString(word) > limit:
			b.WriteString("\n" + strings.Repeat(" ", narrowIndent))
			column = narrowIndent
		default:
			b.WriteString(Gap)
			column += len(Gap)
		}
		text := strings.ReplaceAll(cl.Text, "\n", "\n"+strings.Repeat(" ", narrowIndent))
		if text == cl.Text {
			text = Wrap(text, column, narrowIndent, limit)
		}
		b.WriteString(c.Paint(cl.Sgr, text))
		if at := strings.LastIndexByte(text, '\n'); at >= 0 {
			column, text = 0, text[at+1:]
		}
		column += utf8.RuneCountInString(text)
	}
	return b.String()
}

// Wrap breaks a text that begins at that column between words, so that no line
// passes limit; the lines after the first are indented. Escape sequences take no
// column. A limit of 0 leaves the text as it is.
func Wrap(text string, column, indent, limit int) string {
	if limit == 0 || column+Visible(text) <= limit {
		return text
	}
	var b strings.Builder
	for i, word := range strings.Split(text, " ") {
		n := Visible(word)
		switch {
		case i == 0:
		case column+1+n > limit && column > indent:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// Visible is the number of columns of a text with escape sequences.
func Visible(text string) int {
	n := 0
	for {
		at := strings.Index(text, "\x1b[")
		if at < 0 {
			return n + utf8.RuneCountInString(text)
		}
		n += utf8.RuneCountInString(text[:at])
		end := strings.IndexByte(text[at:], 'm')
		if end < 0 {
			return n
		}
		text = text[at+end+1:]
	}
}

// Fit breaks lines that are longer than limit columns between words, and indents
// what follows as the line itself. A limit of 0 leaves the text as it is.
func Fit(text string, limit int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		lines[i] = line[:indent] + Wrap(words, indent, min(indent, limit/2), limit)
	}
	return strings.Join(lines, "\n")
}

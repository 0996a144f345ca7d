package main

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// cell is a piece of a line. A width above 0 pads it when another cell follows:
// that makes columns.
type cell struct {
	text, sgr string
	width     int
}

// gap stands between two cells.
const gap = "  "

// minColumns is the narrowest terminal that has room for columns, and narrowIndent
// what the further lines of one are indented by in a narrower one.
const (
	minColumns   = 60
	narrowIndent = 4
)

// lay puts cells into a line of at most limit columns; 0 means no limit. A cell
// that does not fit goes to the next line, below the one numbered under, and is
// broken between words where even that is too short. Where there is no room for
// columns the cells just follow each other.
func (c *console) lay(limit, under int, cells ...cell) string {
	cells = printableCells(cells)
	indent := 0
	for _, cl := range cells[:under] {
		indent += max(cl.width, utf8.RuneCountInString(cl.text)) + len(gap)
	}
	if limit > 0 && (limit < minColumns || limit < 2*indent) {
		return c.flow(limit, cells)
	}
	var b strings.Builder
	column, pending := 0, 0 // of the line; blanks that a next cell wants before it
	for i, cl := range cells {
		if cl.text == "" && cl.width == 0 {
			continue
		}
		n := utf8.RuneCountInString(cl.text)
		if i > under && limit > 0 && column > indent && column+pending+n > limit {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column, pending = indent, 0
		}
		if cl.text != "" {
			b.WriteString(strings.Repeat(" ", pending))
			column, pending = column+pending, 0
			text := cl.text
			if strings.Contains(text, "\n") {
				text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", indent))
			} else {
				text = wrap(text, column, indent, limit)
			}
			b.WriteString(c.paint(cl.sgr, text))
			if at := strings.LastIndexByte(text, '\n'); at >= 0 {
				column, n = 0, utf8.RuneCountInString(text[at+1:])
			}
			column += n
		}
		pending += max(cl.width-n, 0) + len(gap)
	}
	return b.String()
}

// printableCells are the cells with text that can be shown: in one line where they
// make a column.
func printableCells(cells []cell) []cell {
	cells = slices.Clone(cells)
	for i := range cells {
		if cells[i].width > 0 {
			cells[i].text = printable(cells[i].text)
		} else {
			cells[i].text = printableLines(cells[i].text)
		}
	}
	return cells
}

// flow puts cells one after the other, without columns, in lines of at most limit
// columns.
func (c *console) flow(limit int, cells []cell) string {
	var b strings.Builder
	column := 0
	for _, cl := range cells {
		if cl.text == "" {
			continue
		}
		word, _, _ := strings.Cut(cl.text, " ")
		switch {
		case b.Len() == 0:
		case column+len(gap)+utf8.RuneCountInString(word) > limit:
			b.WriteString("\n" + strings.Repeat(" ", narrowIndent))
			column = narrowIndent
		default:
			b.WriteString(gap)
			column += len(gap)
		}
		text := strings.ReplaceAll(cl.text, "\n", "\n"+strings.Repeat(" ", narrowIndent))
		if text == cl.text {
			text = wrap(text, column, narrowIndent, limit)
		}
		b.WriteString(c.paint(cl.sgr, text))
		if at := strings.LastIndexByte(text, '\n'); at >= 0 {
			column, text = 0, text[at+1:]
		}
		column += utf8.RuneCountInString(text)
	}
	return b.String()
}

// wrap breaks a text that begins at that column between words, so that no line
// passes limit; the lines after the first are indented. Escape sequences take no
// column. A limit of 0 leaves the text as it is.
func wrap(text string, column, indent, limit int) string {
	if limit == 0 || column+visible(text) <= limit {
		return text
	}
	var b strings.Builder
	for i, word := range strings.Split(text, " ") {
		n := visible(word)
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

// visible is the number of columns of a text with escape sequences.
func visible(text string) int {
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

// fit breaks lines that are longer than limit columns between words, and indents
// what follows as the line itself. A limit of 0 leaves the text as it is.
func fit(text string, limit int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		lines[i] = line[:indent] + wrap(words, indent, min(indent, limit/2), limit)
	}
	return strings.Join(lines, "\n")
}

package schemas

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A Document is a JSON file that was read leniently, with the position of every
// value. It may be used by several goroutines after the last call of
// [Document.Override].
//
// Paths are written as in [Fault]. A key is looked up in its own spelling first
// and then in any letter case, because most keys of the platform's files may be
// written in any; the last one of several counts.
type Document struct {
	file  string
	text  string
	lines []int // offset of the first byte of each line
	root  *node

	earlier bool // keys of earlier versions count, see ReadEarlier
}

// File returns the name that was given to [Parse].
func (d *Document) File() string { return d.file }

// Value returns the whole content in the types of encoding/json, numbers as
// json.Number. Of keys that occur twice the last one counts, as on the platform;
// keys that differ by case are different keys here. The result is the caller's.
func (d *Document) Value() any { return d.root.value() }

// JSON returns the same content as strict JSON in one line, keys in the order of
// the file.
func (d *Document) JSON() []byte { return d.root.appendJSON(nil) }

// Lookup returns the value at path in the types of encoding/json, and whether it
// exists. A JSON null exists and is nil.
func (d *Document) Lookup(path string) (value any, ok bool) {
	n, _ := d.find(path)
	if n == nil {
		return nil, false
	}
	return n.value(), true
}

// Found returns the value at path as [Fault.Found] shows it, or "" if there is
// none.
func (d *Document) Found(path string) string {
	n, _ := d.find(path)
	if n == nil {
		return ""
	}
	return n.found()
}

// Source returns the name of the file or override that the value at path comes
// from; if there is no such value, the source of its nearest parent.
func (d *Document) Source(path string) string {
	_, nearest := d.find(path)
	if nearest.source != "" {
		return nearest.source
	}
	return d.file
}

// Pos returns line and column of the value at path, counted from 1, columns in
// characters. If there is no such value it returns the position of the nearest
// parent that exists. Both are 0 for a value from an override.
func (d *Document) Pos(path string) (line, col int) {
	_, nearest := d.find(path)
	return d.position(nearest)
}

// Fault returns a fault at path with file and position filled in. The file is
// the override that the value came from, if one did.
func (d *Document) Fault(path, found, allowed, reason string) *Fault {
	_, nearest := d.find(path)
	return d.faultAt(nearest, path, found, allowed, reason)
}

func (d *Document) faultAt(n *node, path, found, allowed, reason string) *Fault {
	f := &Fault{File: d.file, Path: path, Found: found, Allowed: allowed, Reason: reason}
	if n.source != "" {
		f.File = n.source
	}
	f.Line, f.Column = d.position(n)
	return f
}

// find returns the node at path, nil if there is none, and the last node on the
// way that exists.
func (d *Document) find(path string) (exact, nearest *node) {
	nearest = d.root
	for _, s := range splitPath(path) {
		next := nearest.step(s)
		if next == nil {
			return nil, nearest
		}
		nearest = next
	}
	return nearest, nearest
}

func (d *Document) position(n *node) (line, col int) {
	if n.source != "" {
		return 0, 0
	}
	return d.lineColumn(n.offset)
}

func (d *Document) lineColumn(offset int) (line, col int) {
	line = sort.SearchInts(d.lines, offset+1)
	return line, utf8.RuneCountInString(d.text[d.lines[line-1]:offset]) + 1
}

// lineStarts returns the offsets at which lines begin. Lines end with LF, CR LF
// or CR.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := 0; i < len(text); {
		n := strings.IndexAny(text[i:], "\r\n")
		if n < 0 {
			break
		}
		i += n + 1
		if text[i-1] == '\r' && i < len(text) && text[i] == '\n' {
			i++
		}
		starts = append(starts, i)
	}
	return starts
}

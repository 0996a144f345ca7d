package atom

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Namespaces of the documents.
const (
	atomSpace       = "http://www.w3.org/2005/Atom"
	serviceBusSpace = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
	countsSpace     = "http://schemas.microsoft.com/netservices/2011/06/servicebus"
	instanceSpace   = "http://www.w3.org/2001/XMLSchema-instance"
	schemaSpace     = "http://www.w3.org/2001/XMLSchema"
	serialSpace     = "http://schemas.microsoft.com/2003/10/Serialization/"
)

// writer builds a document.
type writer struct{ b []byte }

// open begins an element; attributes are pairs of name and value.
func (w *writer) open(name string, attributes ...string) {
	w.tag(name, attributes)
	w.b = append(w.b, '>')
}

// empty is an element with nothing in it.
func (w *writer) empty(name string, attributes ...string) {
	w.tag(name, attributes)
	w.b = append(w.b, " />"...)
}

func (w *writer) tag(name string, attributes []string) {
	w.b = append(append(w.b, '<'), name...)
	for i := 0; i+1 < len(attributes); i += 2 {
		w.b = append(append(append(w.b, ' '), attributes[i]...), `="`...)
		w.b = append(append(w.b, escape(attributes[i+1])...), '"')
	}
}

func (w *writer) close(name string) {
	w.b = append(append(append(w.b, "</"...), name...), '>')
}

func (w *writer) field(name, text string, attributes ...string) {
	w.open(name, attributes...)
	w.b = append(w.b, escape(text)...)
	w.close(name)
}

func (w *writer) optional(name string, text *string) {
	if text != nil {
		w.field(name, *text)
	}
}

func (w *writer) flag(name string, v bool) { w.field(name, strconv.FormatBool(v)) }

func (w *writer) number(name string, n int64) { w.field(name, strconv.FormatInt(n, 10)) }

// time is a point in time. For none the service writes its zero without a zone,
// which is how the Go client knows it.
func (w *writer) time(name string, t time.Time) {
	if t.IsZero() {
		w.field(name, "0001-01-01T00:00:00")
		return
	}
	w.field(name, wireTime(t))
}

func wireTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.9999999Z07:00") }

// escape writes text with as few escapes as can be, by name as the service does:
// parsers of JavaScript leave references by number as they are. A transport return
// has no name. Characters that XML cannot hold become U+FFFD.
func escape(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\r", "&#xD;").Replace(text)
}

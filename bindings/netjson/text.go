package netjson

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Text is the text of a value in .NET, in the invariant culture: "True", a date as
// "01/02/2020 03:04:05", an object, an array or a constructor as its indented JSON, nothing
// for nil and for what is undefined.
func Text(v any) string {
	switch v := v.(type) {
	case nil, Undefined:
		return ""
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return v
	case Date:
		return v.Time.Format("01/02/2006 15:04:05")
	case int64:
		return strconv.FormatInt(v, 10)
	case *big.Int:
		return v.String()
	case float64:
		return Double(v)
	}
	return Indented(v)
}

// Double is the text of a number: the shortest that reads as the same number, with an
// exponent from 1E+17 and below 0.0001 (observed of the platform's host 4.1037).
func Double(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	if n, _ := strconv.Atoi(exponent); n >= 17 || n < -4 { // it was written as a number
		return digits + "E" + exponent
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Indented is the JSON of a value, with line feeds and two blanks for each level.
func Indented(v any) string { return written(v, writer{indent: true}) }

// Compact is the JSON of a value without blanks. Bytes are base64.
func Compact(v any) string { return written(v, writer{}) }

// Strict is as Compact, with null for what other readers of JSON do not know.
func Strict(v any) string { return written(v, writer{strict: true}) }

func written(v any, w writer) string {
	w.value(v, 0)
	return w.b.String()
}

type writer struct {
	b              strings.Builder
	indent, strict bool
}

// value writes a value at a depth.
func (w *writer) value(v any, depth int) {
	switch v := v.(type) {
	case nil:
		w.b.WriteString("null")
	case bool:
		w.b.WriteString(strconv.FormatBool(v))
	case string:
		quote(&w.b, v)
	case []byte:
		quote(&w.b, base64.StdEncoding.EncodeToString(v))
	case Date:
		quote(&w.b, v.String())
	case float64:
		w.b.WriteString(jsonDouble(v))
	case *Object:
		w.b.WriteByte('{')
		for i, m := range v.Members {
			w.begin(i, depth)
			quote(&w.b, m.Name)
			w.b.WriteByte(':')
			if w.indent {
				w.b.WriteByte(' ')
			}
			w.value(m.Value, depth+1)
		}
		w.end('}', len(v.Members) > 0, depth)
	case []any:
		w.b.WriteByte('[')
		w.elements(v, depth)
		w.end(']', len(v) > 0, depth)
	case Undefined:
		if w.strict {
			w.value(nil, depth)
			return
		}
		w.b.WriteString("undefined")
	case *Constructor:
		if w.strict {
			w.value(nil, depth)
			return
		}
		w.b.WriteString("new " + v.Name + "(")
		w.elements(v.Arguments, depth)
		w.end(')', true, depth) // also without arguments on a line of its own
	default:
		w.b.WriteString(Text(v))
	}
}

func (w *writer) elements(list []any, depth int) {
	for i, e := range list {
		w.begin(i, depth)
		w.value(e, depth+1)
	}
}

// begin begins element i of a value at a depth.
func (w *writer) begin(i, depth int) {
	if i > 0 {
		w.b.WriteByte(',')
	}
	w.line(depth + 1)
}

// end ends a value at a depth, on a line of its own if it is broken into lines.
func (w *writer) end(c byte, broken bool, depth int) {
	if broken {
		w.line(depth)
	}
	w.b.WriteByte(c)
}

func (w *writer) line(depth int) {
	if w.indent {
		w.b.WriteString("\n" + strings.Repeat("  ", depth))
	}
}

// jsonDouble has a decimal point where there is no exponent; what is no number is text.
func jsonDouble(f float64) string {
	text := Double(f)
	switch {
	case math.IsNaN(f), math.IsInf(f, 0):
		return `"` + text + `"`
	case strings.ContainsAny(text, ".E"):
		return text
	}
	return text + ".0"
}

// quote writes a text. Beside what JSON asks for, three characters that end lines in
// scripts are escaped.
func quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\b':
			b.WriteString(`\b`)
		case '\t':
			b.WriteString(`\t`)
		case '\n':
			b.WriteString(`\n`)
		case '\f':
			b.WriteString(`\f`)
		case '\r':
			b.WriteString(`\r`)
		case '\u0085', '\u2028', '\u2029':
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			if r < 0x20 {
				fmt.Fprintf(b, `\u%04x`, r)
				continue
			}
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

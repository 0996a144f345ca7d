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
// "01/02/2020 03:04:05", an object or an array as its indented JSON, nothing for nil.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
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
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if n, _ := strconv.Atoi(exponent); n >= 17 || n < -4 { // it was written as a number
		return fmt.Sprintf("%sE%+03d", digits, n)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Indented is the JSON of a value, with line feeds and two blanks for each level.
func Indented(v any) string { return written(v, "\n") }

// Compact is the JSON of a value without blanks. Bytes are base64.
func Compact(v any) string { return written(v, "") }

func written(v any, line string) string {
	var b strings.Builder
	write(&b, v, line)
	return b.String()
}

// write writes a value. line begins a line on its level; empty: nothing is indented.
func write(b *strings.Builder, v any, line string) {
	deeper, colon := "", ":"
	if line != "" {
		deeper, colon = line+"  ", ": "
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		quote(b, v)
	case []byte:
		quote(b, base64.StdEncoding.EncodeToString(v))
	case Date:
		quote(b, v.String())
	case float64:
		b.WriteString(jsonDouble(v))
	case *Object:
		b.WriteByte('{')
		for i, m := range v.Members {
			separate(b, i, deeper)
			quote(b, m.Name)
			b.WriteString(colon)
			write(b, m.Value, deeper)
		}
		if len(v.Members) > 0 {
			b.WriteString(line)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			separate(b, i, deeper)
			write(b, e, deeper)
		}
		if len(v) > 0 {
			b.WriteString(line)
		}
		b.WriteByte(']')
	default:
		b.WriteString(Text(v))
	}
}

func separate(b *strings.Builder, i int, line string) {
	if i > 0 {
		b.WriteByte(',')
	}
	b.WriteString(line)
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

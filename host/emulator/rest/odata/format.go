package odata

import (
	"strings"

	"github.com/redeliver/redeliver/bindings/table"
)

// ContentType is the content type of an answer at a level.
func ContentType(l table.Level) string {
	return "application/json; odata=" + l.String() + "; streaming=true; charset=utf-8"
}

// ErrorContentType is that of an error.
func ErrorContentType(l table.Level) string {
	return "application/json;odata=" + l.String() + ";streaming=true;charset=utf-8"
}

// Negotiate chooses the form of an answer: what $format says, else the first type of
// Accept that is served. XML is for errors only (spec tables 1.1).
func Negotiate(format, accept string) (l table.Level, xml bool, err error) {
	if format != "" {
		accept = format
	}
	atom := false
	for item := range strings.SplitSeq(accept, ",") {
		kind, rest, _ := strings.Cut(item, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/json", "json", "*/*", "application/*":
			return level(rest), false, nil
		case "application/xml", "text/xml":
			return table.Minimal, true, nil
		case "application/atom+xml", "atom":
			atom = true
		}
	}
	if atom {
		return table.Minimal, false, table.NewError(table.CodeAtomFormatNotSupported)
	}
	return table.Minimal, false, nil
}

// level reads the parameter odata of a type.
func level(parameters string) table.Level {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "odata") {
			continue
		}
		if l, ok := table.ParseLevel(strings.Trim(strings.TrimSpace(value), `"`)); ok {
			return l
		}
	}
	return table.Minimal
}

// CheckBody refuses the content types that no operation but a transaction takes.
func CheckBody(contentType string) error {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch strings.TrimSpace(kind) {
	case "multipart/mixed":
		return table.NewError(table.CodeMediaTypeNotSupported)
	case "application/atom+xml":
		return table.NewError(table.CodeAtomFormatNotSupported)
	}
	return nil
}

// Error is the body of an error. A reader of its text finds the code in the code, and in
// the text lines of its own the identifier of the request and the time.
func Error(code, text string) []byte {
	b := append([]byte(`{"odata.error":{"code":`), table.AppendValue(nil, code)...)
	b = append(append(b, `,"message":{"lang":"en-US","value":`...), table.AppendValue(nil, text)...)
	return append(b, "}}}"...)
}

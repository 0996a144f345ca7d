package odata

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/table"
)

// Part is one request within a batch.
type Part struct {
	Method    string
	Path      string // escaped, from the host on
	Query     string
	Header    http.Header // of the request within
	Body      []byte
	ContentID string
}

// Transaction is what a batch asks for: the parts of a change set or, alone, a query.
type Transaction struct {
	Parts   []Part
	Query   bool // the part is a GET outside any change set
	Another bool // a second change set follows, which is not carried out
}

// Read reads the body of a batch (spec tables 5.1). Clients differ in blank lines, line
// ends, lengths and the spelling of headers; all of it is taken.
func Read(contentType string, body []byte) (Transaction, error) {
	var out Transaction
	boundary, ok := boundaryOf(contentType)
	if !ok {
		return out, table.Invalid("The content type of a batch is multipart/mixed with a boundary.")
	}
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	for _, outer := range sections(body, boundary) {
		header, content := split(outer)
		if inner, ok := boundaryOf(header.Get("Content-Type")); ok {
			if out.Query {
				return out, table.Invalid("A query stands alone in its batch.")
			}
			if len(out.Parts) > 0 {
				out.Another = true
				continue
			}
			for _, section := range sections(content, inner) {
				part, err := readPart(section)
				if err != nil {
					return out, err
				}
				if part.Method == http.MethodGet {
					return out, table.Invalid("A change set has no queries.")
				}
				out.Parts = append(out.Parts, part)
			}
			continue
		}
		part, err := readPart(outer)
		if err != nil {
			return out, err
		}
		if part.Method != http.MethodGet || len(out.Parts) > 0 {
			return out, table.Invalid("A batch has one change set, or one query.")
		}
		out.Parts, out.Query = append(out.Parts, part), true
	}
	if len(out.Parts) == 0 {
		return out, table.Invalid("The batch has no operation.")
	}
	return out, nil
}

func boundaryOf(contentType string) (string, bool) {
	kind, parameters, err := mime.ParseMediaType(contentType)
	return parameters["boundary"], err == nil && kind == "multipart/mixed" && parameters["boundary"] != ""
}

// sections are what stands between the lines of a boundary. The last one may be missing.
func sections(body []byte, boundary string) (out [][]byte) {
	line := []byte("--" + boundary)
	var at []byte
	open := false
	for len(body) > 0 {
		next, rest, found := bytes.Cut(body, []byte("\n"))
		trimmed := bytes.TrimRight(next, " \t\r")
		if is, end := bytes.Equal(trimmed, line), bytes.Equal(trimmed, append(line[:len(line):len(line)], '-', '-')); is || end {
			if open {
				out = append(out, at)
			}
			if open, at = is, nil; end {
				return out
			}
		} else if open {
			at = append(append(at, next...), '\n')
		}
		if body = rest; !found {
			break
		}
	}
	if open && len(bytes.TrimSpace(at)) > 0 {
		out = append(out, at)
	}
	return out
}

// split takes headers from what follows the blank line behind them.
func split(section []byte) (http.Header, []byte) {
	header := http.Header{}
	for len(section) > 0 {
		line, rest, _ := bytes.Cut(section, []byte("\n"))
		section = rest
		name, value, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
		if !ok {
			break
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, section
}

// readPart reads a request within a batch, behind the headers of its part.
func readPart(section []byte) (Part, error) {
	outer, content := split(section)
	line, rest, _ := bytes.Cut(bytes.TrimLeft(content, "\n "), []byte("\n"))
	method, target, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
	if i := strings.LastIndex(target, " HTTP/"); i >= 0 {
		target = target[:i]
	}
	if !ok || method == "" || target == "" {
		return Part{}, table.Invalid("A part of the batch has no request line.")
	}
	if _, after, absolute := strings.Cut(target, "://"); absolute {
		target = after[max(strings.IndexByte(after, '/'), 0):]
	}
	path, query, _ := strings.Cut(target, "?")
	header, body := split(rest)
	return Part{
		Method: strings.ToUpper(method), Path: strings.TrimPrefix(path, "/"), Query: query,
		Header: header, Body: bytes.TrimSpace(body), ContentID: outer.Get("Content-Id"),
	}, nil
}

// Values is the query of a part, with names in lower case.
func (p Part) Values() url.Values {
	parsed, _ := url.ParseQuery(p.Query) // what can be read
	out := url.Values{}
	for name, values := range parsed {
		out[strings.ToLower(name)] = values
	}
	return out
}

// Answer is the answer to one request of a batch.
type Answer struct {
	Status    int
	Header    [][2]string // in the order in which they are written
	Body      []byte
	ContentID string // of a success that had one
}

// Write writes the body of the answer to a batch, and its content type: of a query alone or
// of a change set, and behind it what else the batch had. Clients look for the names of
// headers as they are spelled here (spec tables 5.2).
func Write(id string, answers []Answer, query bool, more ...Answer) (contentType string, body []byte) {
	outer, inner := "batchresponse_"+id, "changesetresponse_"+id
	var b bytes.Buffer
	fmt.Fprintf(&b, "--%s\r\n", outer)
	if query {
		writePart(&b, answers[0])
	} else {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=%s\r\n\r\n", inner)
		for _, a := range answers {
			fmt.Fprintf(&b, "--%s\r\n", inner)
			writePart(&b, a)
		}
		fmt.Fprintf(&b, "--%s--\r\n", inner)
	}
	for _, a := range more {
		fmt.Fprintf(&b, "--%s\r\n", outer)
		writePart(&b, a)
	}
	fmt.Fprintf(&b, "--%s--\r\n", outer)
	return "multipart/mixed; boundary=" + outer, b.Bytes()
}

func writePart(b *bytes.Buffer, a Answer) {
	b.WriteString("Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n")
	if a.ContentID != "" {
		fmt.Fprintf(b, "Content-ID: %s\r\n", a.ContentID)
	}
	fmt.Fprintf(b, "\r\nHTTP/1.1 %s %s\r\n", strconv.Itoa(a.Status), http.StatusText(a.Status))
	for _, h := range a.Header {
		fmt.Fprintf(b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	b.Write(a.Body)
	b.WriteString("\r\n")
}

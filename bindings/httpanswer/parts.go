package httpanswer

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/redeliver/redeliver/bindings"
)

// Parts are a response in the parts that the host reads one by one: what a worker sends
// of it (proto: RpcHttp), or the members of an object.
type Parts struct {
	Status    any // an integer, or text that is one; all else is 200
	Header    []Field
	Cookies   []Cookie
	Negotiate bool // the form of the body depends on the caller's Accept header
	Body      any  // as netjson has values, or []byte
}

// Field is one header. Its value is as [netjson] has values.
type Field struct {
	Name  string
	Value any
}

// Response is the answer to req, which may be nil, as the host writes it (host:
// RawScriptResult.cs, ScriptObjectResult.cs). One that cannot be sent is 500, and says why
// in Refused: the function has succeeded all the same.
func (a Parts) Response(req *bindings.HTTPRequest) *bindings.HTTPResponse {
	status, ok := a.status()
	if !ok {
		return refused(nil, "the status of the answer is %s, and clients take 200 to 999", headerText(a.Status))
	}
	out := &bindings.HTTPResponse{StatusCode: status, Header: http.Header{}}
	contentType, fault := a.setHeader(out.Header)
	if fault != nil {
		return fault
	}
	if a.Negotiate {
		return a.negotiated(out, contentType, req)
	}
	for _, c := range a.Cookies {
		line, err := c.line()
		if err != nil {
			return refused(out.Header, "%v", err)
		}
		out.Header.Add("Set-Cookie", line)
	}
	if raw, isBytes := a.Body.([]byte); isBytes {
		out.Body = raw
		return out
	}
	if contentType == "" {
		contentType = "text/plain"
	}
	out.Body, contentType = encoded(text(a.Body), contentType, req)
	out.Header["Content-Type"] = []string{contentType}
	return out
}

// status reads the status. ok is false for one that cannot be sent.
func (a Parts) status() (status int, ok bool) {
	switch v := a.Status.(type) {
	case int64:
		return int(v), v >= 200 && v <= 999
	case *big.Int:
		return 0, false
	case string:
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 32)
		if err != nil {
			break
		}
		return int(n), sendable(int(n))
	}
	return http.StatusOK, true
}

// setHeader fills h, and returns the content type, which is "" when there is none, or the
// answer to give in place of this one. Of a name that comes twice the first counts.
func (a Parts) setHeader(h http.Header) (contentType string, fault *bindings.HTTPResponse) {
	for _, f := range a.Header {
		name := http.CanonicalHeaderKey(f.Name)
		isType := name == "Content-Type"
		if h[name] != nil && !isType {
			continue
		}
		if f.Value == nil {
			return "", refused(h, "the header %q of the answer is null", f.Name)
		}
		value := headerText(f.Value)
		switch {
		case !isToken(f.Name):
			return "", refused(h, "%q is no name of a header", f.Name)
		case !isFieldValue(value):
			return "", refused(h, "the header %q of the answer is %q: HTTP takes printable ASCII", f.Name, value)
		case isType:
			if contentType = value; value == "" {
				delete(h, name)
				continue
			}
		}
		h[name] = []string{value}
	}
	return contentType, nil
}

// isToken reports whether s may be the name of a header or cookie.
func isToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) < 0
}

func isFieldValue(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) < 0
}

// encoded is text in the character set that the caller asks for, else the content type
// names: UTF-8 or UTF-16, nothing else. The content type that comes back names it
// (aspnetcore: TextOutputFormatter.cs).
func encoded(text, contentType string, req *bindings.HTTPRequest) ([]byte, string) {
	given, at := charsetOf(contentType)
	charset := acceptedCharset(req)
	if charset == "" {
		charset = "utf-8"
		if strings.EqualFold(given, "utf-16") {
			charset = "utf-16"
		}
	}
	switch {
	case at < 0:
		contentType += "; charset=" + charset
	case !strings.EqualFold(given, charset):
		contentType = contentType[:at] + charset + contentType[at+len(given):]
	}
	if charset == "utf-8" {
		return []byte(text), contentType
	}
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, utf16.Encode([]rune(text))) // into memory
	return b.Bytes(), contentType
}

// charsetOf is the parameter charset of a content type, and where its value begins; -1:
// nowhere.
func charsetOf(contentType string) (charset string, at int) {
	lower := strings.ToLower(contentType)
	for offset := strings.IndexByte(lower, ';'); offset >= 0; {
		part := lower[offset+1:]
		end := strings.IndexByte(part, ';')
		if end >= 0 {
			part = part[:end]
		}
		if name, value, ok := strings.Cut(part, "="); ok && strings.TrimSpace(name) == "charset" {
			at = offset + 1 + len(name) + 1 + len(value) - len(strings.TrimLeft(value, ` "`))
			return contentType[at : at+len(strings.Trim(value, ` "`))], at
		}
		if end < 0 {
			break
		}
		offset += 1 + end
	}
	return "", -1
}

// acceptedCharset is the character set of the header Accept-Charset that comes first by
// its weight among those the host has; "" when there is none.
func acceptedCharset(req *bindings.HTTPRequest) string {
	for _, c := range weighted(req, "Accept-Charset") {
		switch strings.ToLower(c) {
		case "utf-8", "*":
			return "utf-8"
		case "utf-16":
			return "utf-16"
		}
	}
	return ""
}

package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// httpRequest is what is read of an httpRequest.
type httpRequest struct {
	Method  string
	URI     string
	Headers map[string]values
	Content *string
	Timeout string          // hh:mm:ss; "": Limit
	Token   json.RawMessage `json:"tokenSource"`
}

// values are those of a header: a text, or a list of texts.
type values []string

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(data []byte) error {
	var one string
	if err := json.Unmarshal(data, &one); err == nil {
		*v = values{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(v))
}

// prepare makes the request that is sent, and its limit.
func (r *httpRequest) prepare(ctx context.Context) (*http.Request, time.Duration, *Failure) {
	if len(r.Token) > 0 && string(r.Token) != "null" {
		return nil, 0, failed("System.NotSupportedException", "callHttp with a tokenSource is not emulated: there is no identity to get a token for; put a token into the header Authorization")
	}
	limit := Limit
	if r.Timeout != "" {
		if limit = timeSpan(r.Timeout); limit <= 0 {
			return nil, 0, failed("System.ArgumentException", fmt.Sprintf("the timeout %q of callHttp is no time: want hh:mm:ss, above zero", r.Timeout))
		}
	}
	target, failure := address(r.URI)
	if failure != nil {
		return nil, 0, failure
	}
	var content []byte
	if r.Content != nil {
		content = []byte(*r.Content)
	}
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(r.Method), target.String(), bytes.NewReader(content))
	if err != nil {
		return nil, 0, failed("System.FormatException", "The format of the HTTP method is invalid.")
	}
	if failure := r.setHeaders(req); failure != nil {
		return nil, 0, failure
	}
	return req, limit, nil
}

// spans are times as .NET writes them: [d.]hh:mm:ss[.fffffff].
var spans = regexp.MustCompile(`^(?:(\d{1,4})\.)?(\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d{1,7})?)$`) // read only

// timeSpan reads a time; what is none is 0.
func timeSpan(text string) time.Duration {
	parts := spans.FindStringSubmatch(text)
	if parts == nil {
		return 0
	}
	total := 0.0
	for i, unit := range []float64{24 * 3600, 3600, 60, 1} {
		n, _ := strconv.ParseFloat(parts[1+i], 64) // digits, or nothing
		total += n * unit
	}
	return time.Duration(total * float64(time.Second))
}

// address reads the address of a request. What is none fails with details of its own, as on
// the platform's host.
func address(text string) (*url.URL, *Failure) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		const message = "An invalid request URI was provided. Either the request URI must be an absolute URI or BaseAddress must be set."
		return nil, &Failure{Reason: message, Failure: &durable.Failure{Type: "System.InvalidOperationException", Message: message, Properties: map[string]any{}}}
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, failed("System.NotSupportedException", "The '"+u.Scheme+"' scheme is not supported.")
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.RawQuery = escaped(u.RawQuery)
	return u, nil
}

// escaped is a query without what no request line may have.
func escaped(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>`{}|\\^", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// setHeaders sets the headers as the platform does: those of a content are its client's, but
// for the type, and what no header can have is left out.
//
// Source: ext Listener/TaskHttpActivityShim.cs; the type of a text was seen on its host.
func (r *httpRequest) setHeaders(req *http.Request) *Failure {
	req.Header["User-Agent"] = []string{""} // none
	contentType := "text/plain"
	for name, list := range r.Headers {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !isName(name) || len(list) == 0:
		case canonical == "Content-Type":
			contentType = list[0]
		case contentHeaders[canonical], canonical == "Transfer-Encoding", canonical == "Trailer":
		case canonical == "Host":
			req.Host = list[0]
		default:
			for _, value := range list {
				if strings.ContainsAny(value, "\r\n\x00") {
					continue
				}
				if canonical == "User-Agent" || canonical == "Connection" || canonical == "Accept-Encoding" {
					name = canonical // package net/http looks for them
					req.Header.Set(name, value)
				} else {
					req.Header[name] = append(req.Header[name], value)
				}
			}
		}
	}
	if r.Content == nil {
		return nil
	}
	if strings.Contains(contentType, "multipart") {
		return failed("Microsoft.Azure.WebJobs.Extensions.DurableTask.FunctionFailedException", "Multipart content is not supported with CallHttpAsync.")
	}
	req.Header["Content-Type"] = []string{contentType}
	return nil
}

// isName reports whether a text can be the name of a header.
func isName(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return text != ""
}

// contentHeaders are headers of a content in .NET, which are none of the message.
var contentHeaders = map[string]bool{ // read only
	"Allow": true, "Content-Disposition": true, "Content-Encoding": true, "Content-Language": true, "Content-Length": true, "Content-Location": true,
	"Content-Md5": true, "Content-Range": true, "Content-Type": true, "Expires": true, "Last-Modified": true,
}

package worker

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// http is a request as a worker with these capabilities takes it (spec workers 5, 6.1).
// Plain maps lack parameters of the query that are empty, and where the worker wants that
// empty headers; the others have them all (host: GrpcMessageConversionExtensions.cs).
func (c capabilities) http(r *bindings.HTTPRequest) *workerpb.RpcHttp {
	out := &workerpb.RpcHttp{Method: utf8(r.Method), Url: utf8(r.URL)}
	headers, params, query := map[string]string{}, map[string]string{}, r.Query()
	for name, values := range r.Header {
		headers[utf8(strings.ToLower(name))] = utf8(strings.Join(values, ","))
	}
	for name, value := range r.Params {
		params[utf8(name)] = utf8(value)
	}
	if c.has("UseNullableValueDictionaryForHttp") {
		out.NullableHeaders, out.NullableParams, out.NullableQuery = nullable(headers), nullable(params), nullable(query)
	} else {
		empty := func(_, value string) bool { return value == "" }
		maps.DeleteFunc(query, empty)
		if c.has("IgnoreEmptyValuedRpcHttpHeaders") {
			maps.DeleteFunc(headers, empty)
		}
		out.Headers, out.Params, out.Query = headers, params, query
	}
	if len(r.Body) > 0 {
		c.body(out, r)
	}
	return out
}

func nullable(m map[string]string) map[string]*workerpb.NullableString {
	out := make(map[string]*workerpb.NullableString, len(m))
	for name, value := range m {
		out[name] = &workerpb.NullableString{String_: &workerpb.NullableString_Value{Value: value}}
	}
	return out
}

// body gives a request its body: bytes for a worker that takes those, and for types that
// are bytes, else text. A worker that takes both forms gets JSON as such beside the text.
func (c capabilities) body(out *workerpb.RpcHttp, r *bindings.HTTPRequest) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	raw := textData(string(r.Body))
	if c.has("RawHttpBodyBytes") {
		raw = bytesData(r.Body)
	}
	both := !c.has("RpcHttpBodyOnly")
	switch {
	case kind == "application/octet-stream", strings.HasPrefix(kind, "multipart/"):
		out.Body = bytesData(r.Body)
	case both && kind == "application/json" && json.Valid(r.Body):
		out.Body = jsonData(string(r.Body))
	case both:
		out.Body = textData(string(r.Body))
	default:
		out.Body = raw
	}
	if both {
		out.RawBody = raw
	}
}

// responseValue is the answer of an HTTP-triggered function.
func responseValue(r *workerpb.RpcHttp) (bindings.Value, error) {
	out := &bindings.HTTPResponse{Header: http.Header{}}
	if text := strings.TrimSpace(r.GetStatusCode()); text != "" {
		code, err := strconv.Atoi(text)
		if err != nil {
			return bindings.Value{}, fmt.Errorf("the status of the answer is %q, not a number", text)
		}
		out.StatusCode = code
	}
	for name, value := range r.GetHeaders() {
		out.Header.Set(name, value)
	}
	for name, value := range r.GetNullableHeaders() {
		out.Header.Set(name, value.GetValue())
	}
	for _, cookie := range r.GetCookies() {
		out.Header.Add("Set-Cookie", cookieOf(cookie).String())
	}
	body, err := valueOf(r.GetBody())
	if err != nil {
		return bindings.Value{}, fmt.Errorf("the body of the answer: %w", err)
	}
	kind := ""
	switch body.Kind {
	case bindings.Null:
	case bindings.String:
		out.Body, kind = []byte(body.Text), "text/plain; charset=utf-8"
	case bindings.JSON:
		if body.Text == "null" { // so does the official worker for Java say that there is none
			break
		}
		out.Body, kind = []byte(body.Text), "application/json; charset=utf-8"
	case bindings.Bytes:
		out.Body, kind = body.Data, "application/octet-stream"
	case bindings.Int:
		out.Body, kind = strconv.AppendInt(nil, body.Int, 10), "application/json; charset=utf-8"
	case bindings.Double:
		out.Body, kind = strconv.AppendFloat(nil, body.Double, 'g', -1, 64), "application/json; charset=utf-8"
	default:
		return bindings.Value{}, fmt.Errorf("the body of the answer is a collection, and HTTP cannot carry one")
	}
	if len(out.Body) > 0 && out.Header.Get("Content-Type") == "" {
		out.Header.Set("Content-Type", kind)
	}
	return bindings.Value{Kind: bindings.Response, HTTPResponse: out}, nil
}

func cookieOf(c *workerpb.RpcHttpCookie) *http.Cookie {
	out := &http.Cookie{
		Name: c.GetName(), Value: escapeCookie(c.GetValue()), Domain: c.GetDomain().GetValue(), Path: c.GetPath().GetValue(),
		Secure: c.GetSecure().GetValue(), HttpOnly: c.GetHttpOnly().GetValue(),
	}
	if e := c.GetExpires(); e != nil && e.GetValue() != nil {
		out.Expires = e.GetValue().AsTime().In(time.UTC)
	}
	if age := c.GetMaxAge(); age != nil && age.GetDouble() != nil {
		if out.MaxAge = int(age.GetValue()); out.MaxAge == 0 {
			out.MaxAge = -1 // "Max-Age=0" for package http
		}
	}
	switch c.GetSameSite() {
	case workerpb.RpcHttpCookie_Lax:
		out.SameSite = http.SameSiteLaxMode
	case workerpb.RpcHttpCookie_Strict:
		out.SameSite = http.SameSiteStrictMode
	case workerpb.RpcHttpCookie_ExplicitNone:
		out.SameSite = http.SameSiteNoneMode
	}
	return out
}

// escapeCookie is the value of a cookie as the platform's host writes it, whatever the
// worker: all but unreserved characters are escaped.
func escapeCookie(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

package httpanswer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/httpanswer"
	"github.com/redeliver/redeliver/bindings/netjson"
)

const (
	text   = "text/plain; charset=utf-8"
	jsonct = "application/json; charset=utf-8"
)

// TestFrom has one row for each line of 9.3 and its readings (host:
// HttpBinding.cs, CreateResult, ParseResponseObject, TryParseStatusCode; the answers are
// those of the platform's host 4.1037).
func TestFrom(t *testing.T) {
	t.Parallel()
	js := func(s string) bindings.Value { return bindings.Value{Kind: bindings.JSON, Text: s} }
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return h
	}
	typed := func(t string) http.Header { return header("Content-Type", t) }
	tests := []struct {
		name   string
		value  bindings.Value
		status int
		header http.Header
		body   string
	}{
		{"object with body", js(`{"body":"hi","status":201}`), 201, typed(text), "hi"},
		{"names in any case", js(`{"BODY":"hi","StatusCode":202,"HEADERS":{"x-a":"1"}}`), 202, header("Content-Type", text, "X-A", "1"), "hi"},
		{"statusCode before status", js(`{"status":500,"statusCode":201,"body":"x"}`), 201, typed(text), "x"},
		{"an unusable statusCode is not replaced by status", js(`{"statusCode":"soon","status":500,"body":"x"}`), 200, typed(text), "x"},
		{"numeric text status", js(`{"status":" 404 ","body":"x"}`), 404, typed(text), "x"},
		{"status with a fraction", js(`{"status":404.0,"body":"x"}`), 200, typed(text), "x"},
		{"status null", js(`{"status":null,"body":"x"}`), 200, typed(text), "x"},
		{"status 500 is a response", js(`{"status":500,"body":"x"}`), 500, typed(text), "x"},
		{"object body", js(`{"body":{"b":1, "a":[2]}}`), 200, typed(text), `{"b":1,"a":[2]}`},
		{"array body", js(`{"body":[1]}`), 200, typed(text), "System.Collections.Generic.List`1[System.Object]"},
		{"number body", js(`{"body":5}`), 200, typed(text), "5"},
		{"boolean body", js(`{"body":true}`), 200, typed(text), "True"},
		{"date body", js(`{"body":"2020-01-02T03:04:05Z"}`), 200, typed(text), "01/02/2020 03:04:05"},
		{"null body", js(`{"status":204,"body":null}`), 204, typed(text), ""},
		{"body text stays text", js(`{"body":"{\"a\":1}"}`), 200, typed(text), `{"a":1}`},
		{"own content type", js(`{"body":"<a/>","headers":{"content-type":"text/xml"}}`), 200, typed("text/xml; charset=utf-8"), "<a/>"},
		{"another character set", js(`{"body":"a","headers":{"content-type":"text/xml; charset=latin1; a=b"}}`), 200, typed("text/xml; charset=utf-8; a=b"), "a"},
		{"UTF-16", js(`{"body":"a","headers":{"content-type":"text/xml; charset=UTF-16"}}`), 200, typed("text/xml; charset=UTF-16"), "a\x00"},
		{"header values", js(`{"body":"","headers":{"A":5,"B":true,"C":["1","2"],"D":1.0,"E":{},"a":6}}`), 200,
			header("Content-Type", text, "A", "5", "B", "True", "C", "System.Collections.Generic.List`1[System.Object]", "D", "1", "E", "System.Dynamic.ExpandoObject"), ""},
		{"headers of another type", js(`{"body":"x","headers":"no"}`), 200, typed(text), "x"},
		{"object without body", js(`{"status":500,"headers":{"a":"b"}}`), 200, typed(text), "{\n  \"status\": 500,\n  \"headers\": {\n    \"a\": \"b\"\n  }\n}"},
		{"JSON text", bindings.StringValue(` {"status":201,"body":"hi"} `), 201, typed(text), "hi"},
		{"JSON text in the platform's sense", bindings.StringValue(`{a: 'b', /* c */}`), 200, typed(text), "{\n  \"a\": \"b\"\n}"},
		{"JSON array as text", bindings.StringValue(`[1,2]`), 200, typed(text), "[\n  1,\n  2\n]"},
		{"JSON string as text", bindings.StringValue(`"hi"`), 200, typed(text), "hi"},
		{"number as text", bindings.StringValue(`1.0`), 200, typed(text), "1"},
		{"text", bindings.StringValue("hello {"), 200, typed(text), "hello {"},
		{"text keeps its space", bindings.StringValue(" hello "), 200, typed(text), " hello "},
		{"empty text", bindings.StringValue(""), 200, typed(text), ""},
		{"bytes", bindings.BytesValue([]byte(`{"body":1}`)), 200, header(), `{"body":1}`},
		{"integer", bindings.Value{Kind: bindings.Int, Int: -7}, 200, typed(text), "-7"},
		{"double", bindings.Value{Kind: bindings.Double, Double: 1e-7}, 200, typed(text), "1E-07"},
		{"strings", bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("a")}}, 200, typed(text), "[\n  \"a\"\n]"},
		{"response", bindings.Value{Kind: bindings.Response, HTTPResponse: &bindings.HTTPResponse{Body: []byte("x")}}, 200, nil, "x"},
		{"empty response", bindings.Value{Kind: bindings.Response}, 200, nil, ""},
		{"cookies of an object", js(`{"body":"","cookies":[{"name":"a","value":"1"}]}`), 200, typed(text), ""},
		{"negotiated", js(`{"body":{"a":1.0},"enableContentNegotiation":true}`), 200, typed(jsonct), `{"a":1.0}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := httpanswer.From(tt.value, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.StatusCode != tt.status || string(got.Body) != tt.body || got.Refused != "" {
				t.Errorf("From = %d %q %s, want %d %q", got.StatusCode, got.Body, got.Refused, tt.status, tt.body)
			}
			if diff := cmp.Diff(got.Header, tt.header); diff != "" {
				t.Errorf("headers (-got +want):\n%s", diff)
			}
		})
	}
}

func TestFromErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		value bindings.Value
		want  string
	}{
		"broken JSON": {bindings.Value{Kind: bindings.JSON, Text: `{`}, "not valid JSON"},
		"deep JSON":   {bindings.Value{Kind: bindings.JSON, Text: strings.Repeat("[", 65) + strings.Repeat("]", 65)}, "64 deep"},
		"request":     {bindings.Value{Kind: bindings.Request}, "kind"},
	} {
		if r, err := httpanswer.From(tt.value, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: From = %v, %v; want an error with %q", name, r, err, tt.want)
		}
	}
}

// An answer that HTTP cannot carry is 500, although the function has succeeded. The headers
// before the fault stay (host: ExceptionMiddleware.cs). The platform sends any status.
func TestRefused(t *testing.T) {
	t.Parallel()
	js := func(s string) bindings.Value { return bindings.Value{Kind: bindings.JSON, Text: s} }
	for name, tt := range map[string]struct {
		value bindings.Value
		want  string
	}{
		"status 0":        {js(`{"body":1,"status":0}`), "is 0,"},
		"status 99":       {js(`{"body":1,"status":99}`), "is 99,"},
		"status 150":      {js(`{"body":1,"status":"150"}`), "is 150,"},
		"status 1000":     {js(`{"body":1,"status":1000}`), "is 1000,"},
		"huge status":     {js(`{"body":1,"status":99999999999999999999}`), "is 99999999999999999999,"},
		"response status": {bindings.Value{Kind: bindings.Response, HTTPResponse: &bindings.HTTPResponse{StatusCode: -1}}, "is -1,"},
		"null header":     {js(`{"body":1,"headers":{"a":null}}`), `"a" of the answer is null`},
		"line feed":       {js(`{"body":1,"headers":{"a":"1\n2"}}`), `"1\n2"`},
		"other letters":   {js(`{"body":1,"headers":{"a":"\u00e4"}}`), "printable ASCII"},
		"header name":     {js(`{"body":1,"headers":{"a b":"1"}}`), `"a b"`},
	} {
		r, err := httpanswer.From(tt.value, nil)
		if err != nil || r.StatusCode != 500 || !strings.Contains(r.Refused, tt.want) || len(r.Body) > 0 {
			t.Errorf("%s: From = %+v, %v; want 500 and %q", name, r, err, tt.want)
		}
	}
	r, _ := httpanswer.From(js(`{"body":1,"headers":{"a":"1","b":null,"c":"3"}}`), nil)
	if diff := cmp.Diff(http.Header{"A": {"1"}}, r.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// Cookies of a worker's response (aspnetcore: SetCookieHeaderValue.cs; the lines are those
// of the platform's host 4.1037).
func TestCookies(t *testing.T) {
	t.Parallel()
	at := func(s string) *string { return &s }
	seconds := func(f float64) *float64 { return &f }
	day := time.Unix(86400, 0)
	for want, c := range map[string]httpanswer.Cookie{
		"a=b; path=/":    {Name: "a", Value: "b"},
		"=; path=/":      {},
		"a=b; path=":     {Name: "a", Value: "b", Path: at("")},
		"a=b; path=/x;y": {Name: "a", Value: "b", Path: at("/x;y")},
		"b=1%3B2; expires=Fri, 02 Jan 1970 00:00:00 GMT; max-age=60; domain=a.b; path=/p; secure; samesite=lax; httponly": {
			Name: "b", Value: "1;2", Expires: &day, MaxAge: seconds(60), Domain: at("a.b"), Path: at("/p"), Secure: true, SameSite: "lax", HTTPOnly: true},
		"a=%20%C3%A4%2B~%22; max-age=-5; domain=; path=/": {Name: "a", Value: ` ä+~"`, MaxAge: seconds(-5.5), Domain: at("")},
		"a=; max-age=0; path=/; samesite=none":            {Name: "a", MaxAge: seconds(0), SameSite: "none"},
	} {
		r := httpanswer.Parts{Cookies: []httpanswer.Cookie{c}, Header: []httpanswer.Field{{Name: "Set-Cookie", Value: "x=y"}}}.Response(nil)
		if diff := cmp.Diff([]string{"x=y", want}, r.Header["Set-Cookie"]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, c := range []httpanswer.Cookie{{Name: "a b"}, {Name: "a", Path: at("/ä")}, {Name: "a", Domain: at("x\ny")}} {
		if r := (httpanswer.Parts{Cookies: []httpanswer.Cookie{c}}).Response(nil); r.StatusCode != 500 || r.Refused == "" {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

// What a function returns that has no output for it, and answers that ask for negotiation
// (host: HttpBinding.cs SetResponse; aspnetcore: DefaultOutputFormatterSelector.cs; the
// answers are those of the platform's host 4.1037).
func TestNegotiated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		accept, given string
		text          bool
		want          string // status, type, body
	}{
		{"", "", true, "200 " + text + " hi"},
		{"*/*", "", true, "200 " + text + " hi"},
		{"text/html, */*;q=0.5", "", true, "200 " + text + " hi"},
		{"application/json", "", true, "200 " + jsonct + ` "hi"`},
		{"text/plain;q=0.1, application/json", "", true, "200 " + jsonct + ` "hi"`},
		{"text/html", "", true, "200 " + text + " hi"},
		{"", "", false, "200 " + jsonct + ` {"a":1}`},
		{"text/plain", "", false, "200 " + jsonct + ` {"a":1}`},
		{"text/json", "", false, `200 text/json; charset=utf-8 {"a":1}`},
		{"", "application/problem+json", false, `200 application/problem+json; charset=utf-8 {"a":1}`},
		{"", "application/xml", false, "406 application/xml "},
		{"", "text/plain", true, "200 " + text + " hi"},
		{"", "text/plain", false, "406 text/plain "},
		{"application/json", "text/plain", true, "406 text/plain "},
	} {
		a := httpanswer.Parts{Negotiate: true, Body: "hi"}
		if !tt.text {
			a.Body = &netjson.Object{Members: []netjson.Member{{Name: "a", Value: int64(1)}}}
		}
		if tt.given != "" {
			a.Header = []httpanswer.Field{{Name: "content-type", Value: tt.given}}
		}
		req := &bindings.HTTPRequest{Header: http.Header{}}
		if tt.accept != "" {
			req.Header.Set("Accept", tt.accept)
		}
		r := a.Response(req)
		if got := fmt.Sprintf("%d %s %s", r.StatusCode, r.Header.Get("Content-Type"), r.Body); got != tt.want {
			t.Errorf("%+v: got %s", tt, got)
		}
	}
	for _, tt := range []struct {
		v    bindings.Value
		want string
	}{
		{bindings.Value{}, "204  "},
		{bindings.JSONValue([]byte("null")), "204  "},
		{bindings.StringValue(`{"body":1}`), "200 " + text + ` {"body":1}`},
		{bindings.JSONValue([]byte(`{"body": 1.0}`)), "200 " + jsonct + ` {"body":1.0}`},
		{bindings.JSONValue([]byte(`true`)), "200 " + jsonct + ` true`},
		{bindings.BytesValue([]byte("ab")), "200 " + jsonct + ` "YWI="`},
	} {
		r, err := httpanswer.OfResult(tt.v, nil)
		if got := fmt.Sprintf("%d %s %s", r.StatusCode, r.Header.Get("Content-Type"), r.Body); err != nil || got != tt.want {
			t.Errorf("%+v: got %s, %v; want %s", tt.v, got, err, tt.want)
		}
	}
}

// The character set of a text is the caller's choice first (aspnetcore:
// TextOutputFormatter.cs; observed of the platform's host 4.1037).
func TestAcceptCharset(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"": "text/x; charset=utf-8 a", "utf-16": "text/x; charset=utf-16 a\x00", "*": "text/x; charset=utf-8 a", "latin1": "text/x; charset=utf-8 a",
		"utf-8;q=0.1, UTF-16;q=0.9": "text/x; charset=utf-16 a\x00", "utf-16;q=0": "text/x; charset=utf-16 a\x00",
	} {
		a := httpanswer.Parts{Body: "a", Header: []httpanswer.Field{{Name: "Content-Type", Value: "text/x"}}}
		r := a.Response(&bindings.HTTPRequest{Header: http.Header{"Accept-Charset": {accept}}})
		if got := r.Header.Get("Content-Type") + " " + string(r.Body); got != want {
			t.Errorf("%q: got %q, want %q", accept, got, want)
		}
	}
}

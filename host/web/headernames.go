package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/listen"
)

// knownHeaders are the headers that the platform's server has places for, in the order of
// these (observed of the platform's host 4.1037, which runs Kestrel).
const knownHeaders = `Accept Connection Host User-Agent Accept-Charset Accept-Encoding Accept-Language
Access-Control-Request-Headers Access-Control-Request-Method Authorization baggage Cache-Control Content-Type Cookie
Correlation-Context Date Expect From Grpc-Accept-Encoding Grpc-Encoding Grpc-Timeout If-Match If-Modified-Since
If-None-Match If-Range If-Unmodified-Since Keep-Alive Max-Forwards Origin Pragma Proxy-Authorization Range Referer
Request-Id TE traceparent tracestate Transfer-Encoding Translate Upgrade Upgrade-Insecure-Requests Via Warning Content-Length`

// namedHeaders are others whose names it spells in one way. All others are as they came.
const namedHeaders = `Accept-Ranges Access-Control-Allow-Credentials Access-Control-Allow-Headers
Access-Control-Allow-Methods Access-Control-Allow-Origin Access-Control-Expose-Headers Access-Control-Max-Age Age Allow
Alt-Svc Content-Disposition Content-Encoding Content-Language Content-Location Content-MD5 Content-Range
Content-Security-Policy Content-Security-Policy-Report-Only DNT ETag Expires Grpc-Message Grpc-Status Last-Modified Link
Location Proxy-Authenticate Proxy-Connection Retry-After Sec-WebSocket-Accept Sec-WebSocket-Extensions Sec-WebSocket-Key
Sec-WebSocket-Protocol Sec-WebSocket-Version Server Set-Cookie Strict-Transport-Security Trailer Vary WWW-Authenticate
X-Content-Type-Options X-Frame-Options X-Powered-By X-Requested-With X-UA-Compatible X-XSS-Protection`

// others is the place of headers behind those that it has places for.
const others = 1000

// headerName is how the platform spells a name, and where it has it.
type headerName struct {
	name  string
	place int
}

// headersByName has names in the form of package net/http.
var headersByName = func() map[string]headerName { // read only
	out := map[string]headerName{}
	for i, name := range strings.Fields(knownHeaders) {
		out[http.CanonicalHeaderKey(name)] = headerName{name, i}
	}
	for name := range strings.FieldsSeq(namedHeaders) {
		out[http.CanonicalHeaderKey(name)] = headerName{name, others}
	}
	return out
}()

// headerNames are the names of the headers of a request, Host included, as the platform's
// server gives them: first those that it knows, then the others as they came.
func headerNames(r *http.Request) []string {
	type found struct {
		headerName
		at int
	}
	list := make([]found, 1, len(r.Header)+1)
	list[0] = found{headerName: headersByName["Host"]}
	for name := range r.Header {
		if name == "Host" {
			continue
		}
		h, ok := headersByName[name]
		spelled, at := listen.Spelled(r, name)
		switch {
		case !ok && r.ProtoMajor > 1: // which has lower case only
			h = headerName{strings.ToLower(name), others}
		case !ok:
			h = headerName{spelled, others}
		}
		list = append(list, found{h, at})
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.at, b.at), strings.Compare(a.name, b.name))
	})
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.name
	}
	return names
}

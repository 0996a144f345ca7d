package worker

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/httpanswer"
	"github.com/redeliver/redeliver/bindings/netjson"
	"github.com/redeliver/redeliver/host/internal/identity"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// http is a request as a worker with these capabilities takes it (spec workers 5, 6.1).
// Plain maps lack parameters of the query that are empty, and where the worker wants that
// empty headers; the others have them all (host: GrpcMessageConversionExtensions.cs).
func (c capabilities) http(r *bindings.HTTPRequest) *workerpb.RpcHttp {
	out := &workerpb.RpcHttp{Method: utf8(r.Method), Url: utf8(r.URL), Identities: []*workerpb.RpcClaimsIdentity{identityOf(r.Key)}}
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

// identityOf is the identity of a caller.
func identityOf(key bindings.HTTPKey) *workerpb.RpcClaimsIdentity {
	text := func(s string) *workerpb.NullableString {
		return &workerpb.NullableString{String_: &workerpb.NullableString_Value{Value: s}}
	}
	proof, claims := identity.Of(key)
	out := &workerpb.RpcClaimsIdentity{NameClaimType: text(identity.NameType), RoleClaimType: text(identity.RoleType)}
	if proof != "" {
		out.AuthenticationType = text(proof)
	}
	for _, c := range claims {
		out.Claims = append(out.Claims, &workerpb.RpcClaim{Type: c.Type, Value: c.Value})
	}
	return out
}

// answerOf is the answer of an HTTP-triggered function to req, which may be nil (host:
// GrpcMessageExtensionUtilities.cs).
func answerOf(r *workerpb.RpcHttp, req *bindings.HTTPRequest) (bindings.Value, error) {
	a := httpanswer.Parts{Status: r.GetStatusCode(), Negotiate: r.GetEnableContentNegotiation()}
	for _, name := range slices.Sorted(maps.Keys(r.GetHeaders())) {
		a.Header = append(a.Header, httpanswer.Field{Name: name, Value: r.GetHeaders()[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(r.GetNullableHeaders())) {
		a.Header = append(a.Header, httpanswer.Field{Name: name, Value: r.GetNullableHeaders()[name].GetValue()})
	}
	for _, cookie := range r.GetCookies() {
		a.Cookies = append(a.Cookies, cookieOf(cookie))
	}
	body, err := valueOf(r.GetBody())
	if err == nil {
		a.Body, err = httpanswer.Body(body)
	}
	if err != nil {
		return bindings.Value{}, fmt.Errorf("the body of the answer: %w", err)
	}
	return bindings.Value{Kind: bindings.Response, HTTPResponse: a.Response(req)}, nil
}

// untakenAnswer is an answer that a function without an http output returns: the host does
// not take it for one, and its caller gets the whole as JSON.
func untakenAnswer(r *workerpb.RpcHttp) (bindings.Value, error) {
	texts := func(m map[string]string) *netjson.Object {
		o := &netjson.Object{}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			o.Members = append(o.Members, netjson.Member{Name: name, Value: m[name]})
		}
		return o
	}
	o := &netjson.Object{Members: []netjson.Member{
		{Name: "method", Value: r.GetMethod()}, {Name: "query", Value: texts(r.GetQuery())}, {Name: "statusCode", Value: r.GetStatusCode()},
		{Name: "headers", Value: texts(r.GetHeaders())}, {Name: "enableContentNegotiation", Value: r.GetEnableContentNegotiation()},
		{Name: "cookies", Value: []any{}},
	}}
	if r.GetBody() != nil {
		v, err := valueOf(r.GetBody())
		if err != nil {
			return bindings.Value{}, fmt.Errorf("the body of the answer: %w", err)
		}
		body, err := httpanswer.Body(v)
		if err != nil {
			return bindings.Value{}, err
		}
		o.Members = append(o.Members, netjson.Member{Name: "body", Value: body})
	}
	return bindings.JSONValue([]byte(netjson.Compact(o))), nil
}

func cookieOf(c *workerpb.RpcHttpCookie) httpanswer.Cookie {
	out := httpanswer.Cookie{
		Name: c.GetName(), Value: c.GetValue(), Domain: textOrNil(c.GetDomain()), Path: textOrNil(c.GetPath()),
		Secure: c.GetSecure().GetValue(), HTTPOnly: c.GetHttpOnly().GetValue(), SameSite: sameSites[c.GetSameSite()],
	}
	if at := c.GetExpires().GetValue(); at != nil {
		expires := at.AsTime()
		out.Expires = &expires
	}
	if age, ok := c.GetMaxAge().GetDouble().(*workerpb.NullableDouble_Value); ok {
		out.MaxAge = &age.Value
	}
	return out
}

var sameSites = map[workerpb.RpcHttpCookie_SameSite]string{ // read only
	workerpb.RpcHttpCookie_Lax: "lax", workerpb.RpcHttpCookie_Strict: "strict", workerpb.RpcHttpCookie_ExplicitNone: "none",
}

func textOrNil(s *workerpb.NullableString) *string {
	if v, ok := s.GetString_().(*workerpb.NullableString_Value); ok {
		return &v.Value
	}
	return nil
}

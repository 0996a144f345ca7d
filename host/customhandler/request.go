package customhandler

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/netjson"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/internal/identity"
	"github.com/redeliver/redeliver/retrycontext"
)

// post wraps the inputs of an attempt in JSON (spec workers 13.3).
func (c *conn) post(ctx context.Context, about *call.Request) (*answer, error) {
	body, err := json.Marshal(bodyOf(about))
	if err != nil {
		return nil, fmt.Errorf("write its request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/"+url.PathEscape(about.Function), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.ContentLength = -1 // chunked, as the platform sends it: a handler that reads by the length alone would work here only
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Azure-Functions-Host/"+c.spec.HostVersion)
	return c.send(req, about)
}

// requestBody is what the handler gets. Data is by the names of bindings.
type requestBody struct {
	Data     map[string]any
	Metadata map[string]any
}

func bodyOf(r *call.Request) requestBody {
	b := requestBody{Data: map[string]any{}, Metadata: map[string]any{}}
	trigger := "" // of HTTP: a parameter of its name is not seen behind the request
	for _, in := range r.Inputs {
		b.Data[in.Name] = value(in.Value)
		if in.Value.Kind == bindings.Request {
			trigger = in.Name
		}
	}
	for name, v := range r.Metadata {
		switch {
		case v.Kind == bindings.Request || trigger != "" && strings.EqualFold(name, trigger) || strings.HasSuffix(strings.ToLower(name), "trigger"):
		case v.Kind == bindings.JSON && isTime(v.Text): // stays one
			b.Metadata[name] = json.RawMessage(v.Text)
		default:
			b.Metadata[name] = value(v)
		}
	}
	if sys := "sys"; b.Metadata[sys] == nil { // a member of the payload counts before it
		b.Metadata[sys] = map[string]any{"MethodName": r.Function, "UtcNow": bindings.TimeJSON(r.Now), "RandGuid": guid(r)}
	}
	if r.Retry != nil {
		b.Metadata["RetryContext"] = retryContext(r.Retry)
	}
	return b
}

// isTime says whether a JSON text is a time, as the trigger gives it.
func isTime(text string) bool {
	_, err := time.Parse(`"`+time.RFC3339+`"`, text)
	return err == nil
}

// value is an input, or a value of the metadata, under the rule of the platform: an
// object stays one, bytes are base64, and of all else the JSON form is given as a string
// (spec workers 13.3). So a text is encoded twice.
func value(v bindings.Value) any {
	v = v.Plain()
	switch v.Kind {
	case bindings.String:
		return encoded(v.Text)
	case bindings.JSON:
		text := strings.TrimSpace(v.Text)
		if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		return text
	case bindings.Bytes:
		return base64.StdEncoding.EncodeToString(v.Data)
	case bindings.Int:
		return strconv.FormatInt(v.Int, 10)
	case bindings.Double:
		return encoded(v.Double)
	case bindings.Strings:
		list := make([]string, len(v.List))
		for i, m := range v.List {
			list[i] = m.Text
		}
		return encoded(list)
	case bindings.BytesList:
		list := make([][]byte, len(v.List))
		for i, m := range v.List {
			list[i] = append([]byte{}, m.Data...)
		}
		return encoded(list)
	case bindings.Request:
		return httpValue(v.HTTP)
	}
	return "null" // nothing: an input that is not there, too (observed: host 4.1037)
}

// encoded is the JSON form of v as text. Numbers that JSON does not have become null.
func encoded(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// httpValue is the request of an HTTP trigger.
func httpValue(r *bindings.HTTPRequest) map[string]any {
	headers, params := &netjson.Object{}, map[string]any{}
	for _, h := range r.Headers() {
		var values []any
		for _, v := range r.Header.Values(h.Name) {
			values = append(values, v)
		}
		headers.Members = append(headers.Members, netjson.Member{Name: h.Name, Value: values})
	}
	for _, name := range r.Absent {
		params[name] = nil
	}
	for name, v := range r.Params {
		params[name] = v
	}
	out := map[string]any{
		"Url": r.URL, "Method": r.Method, "Query": ordered(r.Parameters()), "Headers": json.RawMessage(netjson.Compact(headers)), "Params": params, "Identities": []any{identityOf(r.Key)},
	}
	if len(r.Body) == 0 {
		return out
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if kind == "application/octet-stream" || strings.HasPrefix(kind, "multipart/") {
		out["Body"] = base64.StdEncoding.EncodeToString(r.Body)
	} else {
		out["Body"] = string(r.Body)
	}
	return out
}

// ordered is an object of the parameters of a query.
func ordered(parameters []bindings.Parameter) json.RawMessage {
	o := &netjson.Object{}
	for _, p := range parameters {
		o.Members = append(o.Members, netjson.Member{Name: p.Name, Value: p.Value})
	}
	return json.RawMessage(netjson.Compact(o))
}

// identityOf is the identity of a caller as .NET writes one in JSON.
func identityOf(key bindings.HTTPKey) map[string]any {
	const issuer = "LOCAL AUTHORITY"
	proof, list := identity.Of(key)
	claims := []any{}
	for _, c := range list {
		claims = append(claims, map[string]any{
			"Issuer": issuer, "OriginalIssuer": issuer, "Properties": map[string]any{}, "Type": c.Type, "Value": c.Value,
			"ValueType": "http://www.w3.org/2001/XMLSchema#string",
		})
	}
	out := map[string]any{
		"AuthenticationType": nil, "IsAuthenticated": proof != "", "Actor": nil, "BootstrapContext": nil, "Claims": claims, "Label": nil, "Name": nil,
		"NameClaimType": identity.NameType, "RoleClaimType": identity.RoleType,
	}
	if proof != "" {
		out["AuthenticationType"] = proof
	}
	return out
}

// retryContext is the retry context in the metadata. The exception has the names that
// .NET gives to one in JSON.
func retryContext(rc *retrycontext.Context) map[string]any {
	out := map[string]any{
		"RetryCount": rc.RetryCount, "MaxRetryCount": rc.MaxRetryCount, "Exception": nil, "Instance": nil, "State": map[string]any{},
	}
	if e := rc.Exception; e != nil {
		out["Exception"] = map[string]any{
			"ClassName": e.Type, "Message": e.Message, "StackTraceString": e.StackTrace, "Source": e.Source,
		}
	}
	return out
}

// guid is the GUID of an attempt: the same in each run of the same history.
func guid(r *call.Request) string {
	seed := r.InvocationID
	if r.Retry != nil {
		seed += fmt.Sprint("/", r.Retry.RetryCount)
	}
	b := sha256.Sum256([]byte(seed))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

package grid

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// fromHeaders makes a CloudEvent of a request in binary mode: attributes are
// headers ce-*, the body is the data.
//
// Source: CloudEvents HTTP protocol binding 1.0, section 3.1.
func fromHeaders(header http.Header, body []byte) ([]byte, error) {
	event := map[string]any{}
	for name, values := range header {
		attribute, ok := strings.CutPrefix(strings.ToLower(name), "ce-")
		if !ok || len(values) == 0 {
			continue
		}
		if attribute == "data" || attribute == "data_base64" {
			return nil, badRequest("the header " + name + " is no attribute: data is the body")
		}
		value := values[0]
		if decoded, err := url.PathUnescape(value); err == nil {
			value = decoded
		}
		event[attribute] = value
	}
	contentType := header.Get("Content-Type")
	if contentType != "" {
		event["datacontenttype"] = contentType
	}
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	switch {
	case len(body) == 0:
	case media == "" || media == "application/json" || strings.HasSuffix(media, "+json"):
		if !json.Valid(body) {
			return nil, badRequest("the body is no JSON, as its content type says")
		}
		event["data"] = json.RawMessage(body)
	case strings.HasPrefix(media, "text/"):
		event["data"] = string(body)
	default:
		event["data_base64"] = body
	}
	out, err := json.Marshal(event)
	if err != nil { // texts, and JSON that was checked
		panic(err)
	}
	return out, nil
}

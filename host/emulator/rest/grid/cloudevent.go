package grid

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// fromHeaders makes a CloudEvent of a request in binary mode: attributes are
// headers ce-*, the body is the data, and media what its content type says.
//
// Source: CloudEvents HTTP protocol binding 1.0, section 3.1.
func fromHeaders(header http.Header, media string, body []byte) ([]byte, error) {
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
	if contentType := header.Get("Content-Type"); contentType != "" {
		event["datacontenttype"] = contentType
	}
	switch {
	case len(body) == 0:
	case isJSON(media):
		if !json.Valid(body) || !utf8.Valid(body) {
			return nil, badRequest("the body is no JSON, as its content type says")
		}
		event["data"] = json.RawMessage(body)
	case isText(media) && utf8.Valid(body):
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

func isJSON(media string) bool {
	return media == "" || media == "application/json" || strings.HasSuffix(media, "+json")
}

func isText(media string) bool {
	return strings.HasPrefix(media, "text/") || media == "application/xml" || strings.HasSuffix(media, "+xml")
}

package httpanswer

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/netjson"
)

// The forms that a negotiated body may have, in the order in which they are tried. The
// platform has XML too, for a caller that asks for it alone.
const (
	plainType = "text/plain"
	jsonType  = "application/json"
)

// negotiated gives out the body in the form that the caller asks for: a text as it is or
// as JSON, all else as JSON. What a given content type or the caller's wish cannot have is
// 406 (aspnetcore: DefaultOutputFormatterSelector.cs). Cookies are lost on the way.
func (a Parts) negotiated(out *bindings.HTTPResponse, contentType string, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	content := a.Body
	if c, ok := content.(collection); ok {
		content = c.value
	}
	if content == nil {
		if out.StatusCode == http.StatusOK {
			out.StatusCode = http.StatusNoContent
		}
		return out
	}
	plain, isText := content.(string)
	form := chosenForm(isText, contentType, weighted(req, "Accept"))
	switch form {
	case "":
		out.StatusCode = http.StatusNotAcceptable
		return out
	case plainType:
	default:
		plain = netjson.Compact(content)
	}
	if contentType != "" {
		form = contentType
	}
	out.Body, form = encoded(plain, form, req)
	out.Header["Content-Type"] = []string{form}
	return out
}

// chosenForm is the media type of the body; "" when none will do.
func chosenForm(isText bool, given string, accepted []string) string {
	if slices.Contains(accepted, "*/*") {
		accepted = nil // as browsers write it: any form is right
	}
	first := jsonType
	if isText {
		first = plainType
	}
	wanted := accepted
	if given != "" {
		bare, _, _ := strings.Cut(given, ";")
		bare = strings.ToLower(strings.TrimSpace(bare))
		if len(accepted) > 0 && !slices.ContainsFunc(accepted, func(a string) bool { return covers(a, bare) }) {
			return ""
		}
		wanted = []string{bare}
	}
	for _, w := range wanted {
		switch {
		case isText && covers(w, plainType):
			return plainType
		case isJSON(w):
			if strings.Contains(w, "*") {
				return jsonType
			}
			return w
		}
	}
	if given != "" {
		return ""
	}
	return first
}

func isJSON(media string) bool {
	return covers(media, jsonType) || media == "text/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// covers reports whether a media type, with stars for parts, is or includes another.
func covers(pattern, media string) bool {
	kind, star := strings.CutSuffix(pattern, "/*")
	return pattern == media || star && strings.HasPrefix(media, kind+"/")
}

// weighted are the values of a header that is a list with weights, the heaviest first, in
// small letters and without their parameters.
func weighted(req *bindings.HTTPRequest, name string) []string {
	if req == nil {
		return nil
	}
	type entry struct {
		text   string
		weight float64
	}
	var list []entry
	for part := range strings.SplitSeq(strings.Join(req.Header.Values(name), ","), ",") {
		text, parameters, _ := strings.Cut(part, ";")
		e := entry{strings.ToLower(strings.TrimSpace(text)), 1}
		for p := range strings.SplitSeq(parameters, ";") {
			if q, ok := strings.CutPrefix(strings.TrimSpace(p), "q="); ok {
				e.weight, _ = strconv.ParseFloat(q, 64)
			}
		}
		if e.text != "" {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	var out []string
	for _, e := range list {
		out = append(out, e.text)
	}
	return out
}

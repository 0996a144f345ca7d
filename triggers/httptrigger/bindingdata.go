package httptrigger

import (
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// bindingData returns what binding expressions see of a request: the properties
// of a JSON body, over them the query's parameters (without `code`, the key), over
// them the route's, and, where none has such a name, the objects Headers and Query, for
// {headers.x} and {query.x} (ext: HttpTriggerAttributeBindingProvider.cs,
// GetRequestBindingDataAsync; observed of the platform's host 4.1037). A name is spelled
// as it came first. Of several parameters of one name the last counts; several
// headers of one name are joined by commas.
func bindingData(req *bindings.HTTPRequest) map[string]any {
	data := map[string]any{}
	bindings.ApplyJSON(data, req.Body)
	query := req.LastParameters()
	for _, p := range query {
		if !strings.EqualFold(p.Name, "code") {
			set(data, p.Name, p.Value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(req.Params)) {
		set(data, name, req.Params[name])
	}
	if !has(data, "Headers") {
		data["Headers"] = req.Headers()
	}
	if !has(data, "Query") {
		data["Query"] = query
	}
	return data
}

// set replaces what has the same name in any case, and leaves the name as it is.
func set(data map[string]any, name string, value any) {
	for key := range data {
		if strings.EqualFold(key, name) {
			name = key
			break
		}
	}
	data[name] = value
}

// has reports whether there is a value of that name in any case.
func has(data map[string]any, name string) bool {
	for key := range data {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}

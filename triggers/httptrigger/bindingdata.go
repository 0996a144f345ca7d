package httptrigger

import (
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// bindingData returns what binding expressions see of a request: the properties
// of a JSON body, over them the query's parameters (without `code`, the key), over
// them the route's, and over all of them the objects Headers and Query, for
// {headers.x} and {query.x} (ext: HttpTriggerAttributeBindingProvider.cs,
// GetRequestBindingDataAsync). Several values of one name are joined by commas.
func bindingData(req *bindings.HTTPRequest) map[string]any {
	data := map[string]any{}
	bindings.ApplyJSON(data, req.Body)
	query := req.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !strings.EqualFold(name, "code") {
			set(data, name, query[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(req.Params)) {
		set(data, name, req.Params[name])
	}
	headers := map[string]string{}
	for name, values := range req.Header {
		headers[name] = strings.Join(values, ",")
	}
	set(data, "Headers", headers)
	set(data, "Query", query)
	return data
}

// set replaces what has the same name in any case.
func set(data map[string]any, name string, value any) {
	for key := range data {
		if strings.EqualFold(key, name) {
			delete(data, key)
		}
	}
	data[name] = value
}

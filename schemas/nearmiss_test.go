package schemas_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/schemas"
)

func texts(faults []*schemas.Fault) []string {
	var out []string
	for _, f := range faults {
		text := f.Error()
		if f.Kind != "" {
			text += " {" + string(f.Kind) + "}"
		}
		out = append(out, text)
	}
	return out
}

// TestMisspelt: keys close to a known one, lint L-9 (spec host-and-retry 14.3, D-8).
func TestMisspelt(t *testing.T) {
	t.Parallel()
	const ignored = "unknown key, which is ignored; "
	for name, c := range map[string]struct {
		schema schemas.Name
		text   string
		want   []string
	}{
		"Retry by case": {schemas.FunctionJSON, `{"bindings":[],"Retry":{}}`,
			[]string{`a.json:1:24: Retry: found "Retry": ` + ignored + `it differs only by case from "retry"; allowed: "retry"`}},
		"Bindings by case": {schemas.FunctionJSON, `{"Bindings":[]}`,
			[]string{`a.json:1:13: Bindings: found "Bindings": ` + ignored + `it differs only by case from "bindings"; allowed: "bindings"`}},
		"retry is there as well": {schemas.FunctionJSON, `{"bindings":[],"retry":{},"Retry":{}}`,
			[]string{`a.json:1:35: Retry: found "Retry": ` + ignored + `it differs only by case from "retry"; allowed: "retry"`}},
		"names of D-8 beside the right one": {schemas.FunctionJSON, `{"bindings":[],"retry":{"minimumInterval":"00:00:04","MinimumIntervall":"00:00:05"}}`,
			[]string{`a.json:1:73: retry.MinimumIntervall: found "MinimumIntervall": ` + ignored + `its spelling is close to "minimumInterval"; allowed: "minimumInterval"`}},
		"short name beside another": {schemas.FunctionJSON, `{"bindings":[{"type":"queue","name":"a","names":"b"}]}`, nil},
		"case does not count":       {schemas.FunctionJSON, `{"bindings":[{"Name":"a","TYPE":"queue"}],"retry":{"MaxRetryCount":1},"ConfigurationSource":"config"}`, nil},
		"names of D-8": {schemas.FunctionJSON, "{\"bindings\":[],\"retry\":{\"MinimumIntervall\":\"00:00:04\",\n\"Maximumintervall\":\"00:15:00\"}}", []string{
			`a.json:1:44: retry.MinimumIntervall: found "MinimumIntervall": ` + ignored + `its spelling is close to "minimumInterval"; allowed: "minimumInterval"`,
			`a.json:2:20: retry.Maximumintervall: found "Maximumintervall": ` + ignored + `its spelling is close to "maximumInterval"; allowed: "maximumInterval"`,
		}},
		"in a binding": {schemas.FunctionJSON, `{"bindings":[{"name":"a","type":"queueTrigger","queName":"b"}]}`,
			[]string{`a.json:1:58: bindings[0].queName: found "queName": ` + ignored + `its spelling is close to "queueName"; allowed: "queueName"`}},
		"in host.json": {schemas.HostJSON, `{"extensions":{"queue":{},"http":{"routePrefx":""}}}`, []string{
			`a.json:1:24: extensions.queue: found "queue": ` + ignored + `its spelling is close to "queues"; allowed: "queues"`,
			`a.json:1:48: extensions.http.routePrefx: found "routePrefx": ` + ignored + `its spelling is close to "routePrefix"; allowed: "routePrefix"`,
		}},
		"version by case":      {schemas.HostJSON, `{"Version":"2.0"}`, []string{`a.json:1:12: Version: found "Version": ` + ignored + `it differs only by case from "version"; allowed: "version"`}},
		"swapped letters":      {schemas.HostJSON, `{"singelton":{}}`, []string{`a.json:1:14: singelton: found "singelton": ` + ignored + `its spelling is close to "singleton"; allowed: "singleton"`}},
		"free names":           {schemas.LocalSettings, `{"Values":{"Value":"1"}}`, nil},
		"something different":  {schemas.HostJSON, `{"tracing":{},"id":"","extensions":{"kafka":{}}}`, nil},
		"closed: a fault then": {schemas.HostJSON, `{"redeliver":{"retryCountin":"x"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(texts(parse(t, "a.json", c.text).Misspelt(c.schema)), c.want); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
		})
	}
}

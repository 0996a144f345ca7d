package schemas_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/schemas"
)

// TestOverride: AzureFunctionsJobHost__a__b over a.b (spec host-and-retry 6.3).
func TestOverride(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, path, value, want string }{
		"replaces":                   {`{"retry":{"maxRetryCount":4}}`, "retry:maxRetryCount", "1", `{"retry":{"maxRetryCount":"1"}}`},
		"ignores case":               {`{"Retry":{"MaxRetryCount":4}}`, "retry:MAXRETRYCOUNT", "1", `{"Retry":{"MaxRetryCount":"1"}}`},
		"merges per key":             {`{"retry":{"strategy":"fixedDelay"}}`, "retry:maxRetryCount", "1", `{"retry":{"strategy":"fixedDelay","maxRetryCount":"1"}}`},
		"creates objects":            {`{}`, "extensions:queues:batchSize", "1", `{"extensions":{"queues":{"batchSize":"1"}}}`},
		"creates a list":             {`{}`, "functions:0", "A", `{"functions":["A"]}`},
		"replaces an item":           {`{"functions":["A","B"]}`, "functions:0", "C", `{"functions":["C","B"]}`},
		"adds an item":               {`{"functions":["A"]}`, "functions:7", "C", `{"functions":["A","C"]}`},
		"item of an object":          {`{"a":[{"n":1}]}`, "a:0:n", "2", `{"a":[{"n":"2"}]}`},
		"names an item of a list":    {`{"a":["x"]}`, "a:b", "y", `{"a":{"0":"x","b":"y"}}`},
		"replaces null":              {`{"retry":null}`, "retry:maxRetryCount", "1", `{"retry":{"maxRetryCount":"1"}}`},
		"replaces text by an object": {`{"retry":"x"}`, "retry:maxRetryCount", "1", `{"retry":{"maxRetryCount":"1"}}`},
		"text on an object":          {`{"retry":{"maxRetryCount":4}}`, "retry", "x", `{"retry":{"maxRetryCount":4}}`},
		"text on a list":             {`{"redeliver":{"ignore":["L-1"]}}`, "redeliver:ignore", "L-2", `{"redeliver":{"ignore":"L-2"}}`},
		"no path":                    {`{"a":1}`, "", "x", `{"a":1}`},
		"root is no object":          {`[]`, "a", "x", `{"a":"x"}`},
		"text with the last of two":  {`{"a":1,"a":2}`, "A", "3", `{"a":"3"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := parse(t, "host.json", c.text)
			d.Override(strings.Split(c.path, ":"), c.value, "environment")
			if got := string(d.JSON()); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestOverrideFaults: a fault names the file or the override that it came from.
func TestOverrideFaults(t *testing.T) {
	t.Parallel()
	d := parse(t, "host.json", "{\n \"version\": \"2.0\",\n \"extensions\": {\"queues\": {\"batchSize\": 99, \"maxDequeueCount\": 0}}\n}")
	d.Override([]string{"extensions", "QUEUES", "batchsize"}, "77", "environment")
	d.Override([]string{"redeliver", "retryCounting"}, "sometimes", "--set")
	d.Override([]string{"redeliver", "nonsense"}, "1", "--set")
	check(t, d, schemas.HostJSON,
		`host.json:3:64: extensions.queues.maxDequeueCount: found 0: MaxDequeueCount must not be less than 1; allowed: a whole number of 1 or more {argument-out-of-range}`,
		`--set: redeliver.nonsense: found "nonsense": unknown name; allowed: `+switches,
		`--set: redeliver.retryCounting: found "sometimes": not one of the allowed values; allowed: "runtime" or "documented"`,
		`environment: extensions.queues.batchSize: found "77": out of range; allowed: a whole number from 1 to 32 {argument-out-of-range}`,
	)
	if line, col := d.Pos("extensions.queues.batchSize"); line != 0 || col != 0 {
		t.Errorf("Pos of an override = %d:%d, want 0:0", line, col)
	}
	if got := d.Source("extensions.queues.batchSize"); got != "environment" {
		t.Errorf("Source = %s, want environment", got)
	}
	if got := d.Source("extensions.queues.maxDequeueCount"); got != "host.json" {
		t.Errorf("Source = %s, want host.json", got)
	}
}

// FuzzOverride: no path and no text breaks a document.
func FuzzOverride(f *testing.F) {
	f.Add(`{"a":[1,{"b":2}]}`, "a:1:b", "x")
	f.Add(`[]`, "0:0:a", "")
	f.Add(`{"functions":["A"],"Functions":null}`, "functions:0:0", "A")
	f.Fuzz(func(t *testing.T, text, path, value string) {
		d, fault := schemas.Parse("host.json", []byte(text))
		if fault != nil {
			return
		}
		d.Override(strings.Split(path, ":"), value, "environment")
		d.Validate(schemas.HostJSON)
		d.Canonical(schemas.HostJSON)
		d.JSON()
	})
}

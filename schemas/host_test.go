package schemas_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redeliver/redeliver/schemas"
)

// host wraps members in a host.json of which they are the second line.
func host(members string) string {
	if members == "" {
		return "{ \"version\": \"2.0\" }"
	}
	return "{ \"version\": \"2.0\",\n" + members + "\n}"
}

// nested turns "a.b", "1" into {"a":{"b":1}} without the outer braces.
func nested(path, value string) string {
	keys := strings.Split(path, ".")
	text := value
	for i := len(keys) - 1; i >= 0; i-- {
		text = `"` + keys[i] + `":` + text
		if i > 0 {
			text = "{" + text + "}"
		}
	}
	return text
}

// TestHostRanges: every limit of the tables, from both sides. Each value in bad
// gives one fault at that property, of the kind and with the allowed text given.
func TestHostRanges(t *testing.T) {
	t.Parallel()
	const out, in = schemas.KindArgumentOutOfRange, schemas.KindInvalidOperation
	const infinite = "a time span of 00:00:00 or more, or -00:00:00.0010000 for no limit"
	const unlimited = "-1 (no limit), or a whole number of 1 or more"
	for _, c := range []struct {
		path, good, bad string // separated by blanks
		kind            schemas.Kind
		allowed         string
	}{
		{"aggregator.batchSize", `1 10000 "5" "+5" "0005" 5.0`, `0 10001 -1 "+0" "-5"`, out, "a whole number from 1 to 10000"},
		{"aggregator.flushTimeout", `"00:00:00.0000001" "00:05:00"`, `"00:00:00" "-00:00:01" "00:05:01"`, out, "a time span above 00:00:00 and up to 00:05:00"},
		{"concurrency.maximumFunctionConcurrency", `1 -1 500`, `0 -2`, out, unlimited},
		{"concurrency.cpuThreshold", `0.01 0.99 "0.5" "+00.5"`, `0 1 1.5 -1`, out, "a number above 0 and below 1"},
		{"extensions.http.maxOutstandingRequests", `-1 1`, `0 -2`, out, unlimited},
		{"extensions.http.maxConcurrentRequests", `-1 1`, `0 -2`, out, unlimited},
		{"extensions.queues.batchSize", `1 32 "32" 32.0`, `0 33 -1 "33"`, out, "a whole number from 1 to 32"},
		{"extensions.queues.newBatchThreshold", `0 1000`, `-1`, out, "a whole number of 0 or more"},
		{"extensions.queues.maxPollingInterval", `"00:00:00.1" "1.00:00:00" 1`, `"00:00:00.0999999" "-00:01:00"`, out, "a time span of 00:00:00.1 (100 ms) or more"},
		{"extensions.queues.visibilityTimeout", `"00:00:00" "8.00:00:00"`, ``, out, ""},
		{"extensions.queues.maxDequeueCount", `1 2147483647`, `0 -5`, out, "a whole number of 1 or more"},
		{"extensions.queues.messageEncoding", `"base64" "None" "BASE64"`, `"utf8" 5 ""`, in, `"base64" or "none"`},
		{"extensions.blobs.maxDegreeOfParallelism", `1`, `0`, out, "a whole number of 1 or more"},
		{"extensions.blobs.poisonBlobThreshold", `1`, `0`, out, "a whole number of 1 or more"},
		{"extensions.serviceBus.prefetchCount", `0`, `-1`, out, "a whole number of 0 or more"},
		{"extensions.serviceBus.transportType", `"amqpTcp" "AmqpWebSockets"`, `"tcp"`, in, `"amqpTcp" or "amqpWebSockets"`},
		{"extensions.serviceBus.maxAutoLockRenewalDuration", `"00:00:00" "-00:00:00.0010000" "-00:00:00.001"`, `"-00:00:01"`, out, infinite},
		{"extensions.serviceBus.maxConcurrentCalls", `1`, `0`, out, "a whole number of 1 or more"},
		{"extensions.serviceBus.maxConcurrentSessions", `1`, `0`, out, "a whole number of 1 or more"},
		{"extensions.serviceBus.maxConcurrentCallsPerSession", `1`, `0`, out, "a whole number of 1 or more"},
		{"extensions.serviceBus.maxMessageBatchSize", `1`, `0`, out, "a whole number of 1 or more"},
		{"extensions.serviceBus.minMessageBatchSize", `1 1000`, `0`, out, "a whole number of 1 or more"},
		{"extensions.serviceBus.maxBatchWaitTime", `"00:02:30"`, `"00:02:31" "-00:00:01"`, out, "a time span from 00:00:00 to 00:02:30"},
		{"extensions.serviceBus.clientRetryOptions.mode", `"Fixed" "exponential"`, `"linear"`, in, `"exponential" or "fixed"`},
		{"extensions.eventHubs.maxEventBatchSize", `1`, `0`, out, "a whole number of 1 or more"},
		{"extensions.eventHubs.maxWaitTime", `"00:00:00" "00:10:00"`, `"00:10:01" "-00:00:01"`, out, "a time span from 00:00:00 to 00:10:00"},
		{"extensions.eventHubs.batchCheckpointFrequency", `1`, `0`, out, "a whole number of 1 or more"},
		{"extensions.eventHubs.loadBalancingStrategy", `"Greedy" "balanced"`, `"fair"`, in, `"greedy" or "balanced"`},
		{"extensions.eventHubs.initialOffsetOptions.type", `"fromStart" "FROMEND"`, `"fromMiddle"`, in, `"fromStart", "fromEnd" or "fromEnqueuedTime"`},
		{"extensions.eventHubs.initialOffsetOptions.enqueuedTimeUtc", `"2021-02-16T14:19:29Z" "2021-02-16"`, `"yesterday" "2021-13-16"`, in, "a time such as 2021-02-16T14:19:29Z"},
		{"functionTimeout", `"00:00:01" "10.00:00:00" "-1" -1 "-1.00:00:00"`, `"00:00:00.9" "00:00:00" "-2" -2`, out, "a time span from 00:00:01 to 24.20:31:23.647, or -1 for no limit"},
		{"healthMonitor.enabled", `true "False" "yes" 1`, ``, in, "true or false"},
		{"logging.fileLoggingMode", `"always" "DebugOnly"`, `"sometimes"`, in, `"never", "always" or "debugOnly"`},
		{"logging.logLevel.default", `"Trace" "none"`, `"verbose"`, in, `"Trace", "Debug", "Information", "Warning", "Error", "Critical" or "None"`},
		{"singleton.lockPeriod", `"00:00:15" "00:01:00"`, `"00:00:14.9" "00:01:01"`, out, "a time span from 00:00:15 to 00:01:00"},
		{"singleton.listenerLockPeriod", `"00:00:15" "00:01:00"`, `"00:00:14.9" "00:01:01"`, out, "a time span from 00:00:15 to 00:01:00"},
		{"singleton.listenerLockRecoveryPollingInterval", `"00:00:15"`, `"00:00:14"`, out, "a time span of 00:00:15 or more"},
		{"singleton.lockAcquisitionPollingInterval", `"00:00:00.5"`, `"00:00:00.4"`, out, "a time span of 00:00:00.5 (500 ms) or more"},
		{"telemetryMode", `"applicationinsights" "OpenTelemetry" "none"`, ``, in, `"ApplicationInsights" or "OpenTelemetry"`},
		{"metadataProviderTimeout", `"00:00:30"`, `"00:00:00"`, out, "a time span above 00:00:00"},
		{"redeliver.retryCounting", `"runtime" "Documented"`, `"both" 1`, "", `"runtime" or "documented"`},
		{"redeliver.retryTriggers", `"all" "ga"`, `"none"`, "", `"all" or "ga"`},
		{"redeliver.workerCrash", `"keep" "stop"`, `"x"`, "", `"keep" or "stop"`},
		{"redeliver.wakeUp", `"fast" "faithful"`, `"x"`, "", `"fast" or "faithful"`},
		{"redeliver.autoCreateEntities", `"functions" "any" "none"`, `"x"`, "", `"functions", "any" or "none"`},
		{"redeliver.strictSessionSend", `false true "true"`, `"x" 1`, "", "true or false"},
		{"redeliver.autoForwardFailure", `"tdlq" "dlq"`, `"x"`, "", `"tdlq" or "dlq"`},
		{"redeliver.maxForwardHops", `1 100 "4"`, `0 "x"`, "", "a whole number of 1 or more"},
		{"redeliver.eventGridSchedule", `"2019" 2019 "current"`, `"2020" 2020`, "", `"2019" or "current"`},
		{"redeliver.eventGridJitterPercent", `0 50 "10"`, `-1 51`, "", "a whole number from 0 to 50"},
		{"redeliver.eventGridProbation", `"on" "off"`, `"x" true`, "", `"on" or "off"`},
		{"redeliver.serviceBus.config", `"Config.json"`, `""`, "", "text"},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			for _, value := range strings.Fields(c.good) {
				check(t, parse(t, "host.json", host(nested(c.path, value))), schemas.HostJSON)
			}
			for _, value := range strings.Fields(c.bad) {
				d := parse(t, "host.json", host(nested(c.path, value)))
				faults := d.Validate(schemas.HostJSON)
				if len(faults) != 1 {
					t.Errorf("%s: %d faults %v, want 1", value, len(faults), texts(faults))
					continue
				}
				f := faults[0]
				got := *f
				got.Reason = ""
				line, col := d.Pos(c.path)
				want := schemas.Fault{File: "host.json", Line: line, Column: col, Path: c.path, Found: value, Allowed: c.allowed, Kind: c.kind}
				if diff := cmp.Diff(got, want); diff != "" || f.Reason == "" || line != 2 {
					t.Errorf("%s: (-got +want)\n%s", f, diff)
				}
			}
		})
	}
}

// TestHostConversions: values that cannot become the option's type.
func TestHostConversions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, value, want string }{
		"number from text":   {"extensions.queues.batchSize", `"many"`, `cannot be read as a whole number; allowed: a whole number from 1 to 32 {invalid-operation}`},
		"whole with a point": {"extensions.queues.batchSize", `"8.0"`, `cannot be read as a whole number; allowed: a whole number from 1 to 32 {invalid-operation}`},
		"two signs":          {"extensions.queues.batchSize", `"+-8"`, `cannot be read as a whole number; allowed: a whole number from 1 to 32 {invalid-operation}`},
		"sign only":          {"extensions.queues.batchSize", `"+"`, `cannot be read as a whole number; allowed: a whole number from 1 to 32 {invalid-operation}`},
		"number from empty":  {"extensions.queues.batchSize", `""`, `cannot be read as a whole number; allowed: a whole number from 1 to 32 {invalid-operation}`},
		"number from null":   {"extensions.queues.batchSize", `null`, `cannot be read as a whole number; allowed: a whole number from 1 to 32 {invalid-operation}`},
		"span from null":     {"singleton.lockPeriod", `null`, `cannot be read as a time span: it is empty; allowed: a time span from 00:00:15 to 00:01:00 {invalid-operation}`},
		"span from empty":    {"extensions.queues.maxPollingInterval", `""`, `cannot be read as a time span: it is empty; allowed: a time span of 00:00:00.1 (100 ms) or more {invalid-operation}`},
		"number from bool":   {"extensions.queues.batchSize", `true`, `cannot be read as a whole number; allowed: a whole number from 1 to 32 {invalid-operation}`},
		"not whole":          {"extensions.queues.batchSize", `1.5`, `cannot be read as a whole number; allowed: a whole number from 1 to 32 {invalid-operation}`},
		"more than 32 bits":  {"extensions.queues.maxDequeueCount", `2147483648`, `cannot be read as a whole number of 32 bits; allowed: a whole number of 1 or more {invalid-operation}`},
		"bool from text":     {"concurrency.dynamicConcurrencyEnabled", `"on"`, `cannot be read as true or false; allowed: true or false {invalid-operation}`},
		"span from text":     {"extensions.queues.visibilityTimeout", `"soon"`, `cannot be read as a time span: want [-]hh:mm:ss, with days as d.hh:mm:ss and fractions as hh:mm:ss.fffffff; allowed: a time span such as 00:00:30 {invalid-operation}`},
		"span out of hours":  {"extensions.queues.visibilityTimeout", `"25:00"`, `cannot be read as a time span: hours must be 0 to 23; allowed: a time span such as 00:00:30 {invalid-operation}`},
		"span of all time":   {"extensions.queues.visibilityTimeout", `100000000`, `cannot be read as a time span: days must be 0 to 10675199; allowed: a time span such as 00:00:30 {invalid-operation}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := parse(t, "host.json", host(nested(c.path, c.value)))
			line, col := d.Pos(c.path)
			check(t, d, schemas.HostJSON, fmt.Sprintf("host.json:%d:%d: %s: found %s: %s", line, col, c.path, d.Found(c.path), c.want))
		})
	}
}

// TestHostFaults: rules that are not about one value's type or range.
func TestHostFaults(t *testing.T) {
	t.Parallel()
	const version = `allowed: the text "2.0" {configuration}`
	for name, c := range map[string]struct {
		text string
		want []string
		hint string // of the first fault
	}{
		"version missing":      {`{}`, []string{`host.json:1:1: version: is required; ` + version}, `write "version": "2.0"`},
		"version empty":        {`{"version":""}`, []string{`host.json:1:1: version: is required; ` + version}, `write "version": "2.0"`},
		"version null":         {`{"version":null}`, []string{`host.json:1:1: version: is required; ` + version}, `write "version": "2.0"`},
		"version by case":      {`{"Version":"2.0"}`, []string{`host.json:1:1: version: is required; ` + version}, `write "version": "2.0"; the case of this key counts`},
		"version other":        {`{"version":"1.0"}`, []string{`host.json:1:12: version: found "1.0": not a supported version; ` + version}, `write "version": "2.0"`},
		"version of runtime":   {`{"version":"3.0"}`, []string{`host.json:1:12: version: found "3.0": not a supported version; ` + version}, `write "version": "2.0"; this is the version of the file format, not of the runtime`},
		"version number":       {`{"version":2.0}`, []string{`host.json:1:12: version: found 2.0: not a supported version; ` + version}, `write "version": "2.0", as text: a number loses its decimal part`},
		"root is a list":       {`[]`, []string{`host.json:1:1: found []: cannot be read as an object; allowed: an object {format}`}, ""},
		"bundle without both":  {host(`"extensionBundle":{"x":1}`), []string{`host.json:2:19: extensionBundle.id: is required; allowed: text {argument}`, `host.json:2:19: extensionBundle.version: is required; allowed: text {argument}`}, ""},
		"empty bundle is none": {host(`"extensionBundle":{},"httpWorker":[],"healthMonitor":{"healthCheckThreshold":1.5}`), nil, ""},
		"bundle null":          {host(`"extensionBundle":null`), []string{`host.json:2:19: extensionBundle.id: is required; allowed: text {argument}`, `host.json:2:19: extensionBundle.version: is required; allowed: text {argument}`}, ""},
		"custom handler without program": {host(`"customHandler":{"description":{}}`),
			[]string{`host.json:2:17: customHandler.description: is required; allowed: an object {configuration}`}, ""},
		"custom handler with empty program": {host(`"customHandler":{"description":{"defaultExecutablePath":""}}`),
			[]string{`host.json:2:57: customHandler.description.defaultExecutablePath: found "": must not be empty; allowed: text {configuration}`}, ""},
		"custom handler without description": {host(`"customHandler":{"port":8080}`), []string{`host.json:2:17: customHandler.description: is required; allowed: an object {configuration}`}, ""},
		"service bus batch": {host(`"extensions":{"serviceBus":{"minMessageBatchSize":20,"maxMessageBatchSize":10}}`),
			[]string{`host.json:2:51: extensions.serviceBus.minMessageBatchSize: found 20: greater than maxMessageBatchSize; allowed: a whole number from 1 to 10 {invalid-operation}`}, ""},
		"event hubs batch above the default": {host(`"extensions":{"eventHubs":{"minEventBatchSize":101}}`),
			[]string{`host.json:2:48: extensions.eventHubs.minEventBatchSize: found 101: greater than maxEventBatchSize; allowed: a whole number from 1 to 100 {invalid-operation}`}, ""},
		"offset without time": {host(`"extensions":{"eventHubs":{"initialOffsetOptions":{"type":"FromEnqueuedTime"}}}`),
			[]string{`host.json:2:51: extensions.eventHubs.initialOffsetOptions.enqueuedTimeUtc: is required; allowed: a time such as 2021-02-16T14:19:29Z {argument-null}`}, ""},
		"retry conversions only": {host(`"retry":{"strategy":"linear","maxRetryCount":"x","delayInterval":"25:00","minimumInterval":"-00:00:01"}`), []string{
			`host.json:2:21: retry.strategy: found "linear": not one of the allowed values; allowed: "fixedDelay" or "exponentialBackoff" {invalid-operation}`,
			`host.json:2:46: retry.maxRetryCount: found "x": cannot be read as a whole number; allowed: -1 (for ever), or a whole number of 0 or more {invalid-operation}`,
			`host.json:2:66: retry.delayInterval: found "25:00": cannot be read as a time span: hours must be 0 to 23; allowed: a time span from 00:00:00 to 49.17:02:47.2940000 {invalid-operation}`,
		}, ""},
		"retry incomplete is not ours": {host(`"retry":{"maxRetryCount":-4}`), nil, ""},
		"retry empty texts":            {host(`"retry":{"maxRetryCount":"","delayInterval":""}`), nil, ""},
		"unknown sections":             {host(`"unknown":{"version":5},"extensions":{"kafka":{"x":1}}`), nil, ""},
		"unknown switch": {host(`"redeliver":{"retryCountin":"x"}`),
			[]string{`host.json:2:29: redeliver.retryCountin: found "retryCountin": unknown name; allowed: ` + switches}, `did you mean "retryCounting"?`},
		"unknown name below a switch": {host(`"redeliver":{"serviceBus":{"file":"x"}}`), []string{`host.json:2:35: redeliver.serviceBus.file: found "file": unknown name; allowed: config`}, ""},
		"switches by case":            {host(`"Redeliver":{"RETRYCOUNTING":"RUNTIME"}`), nil, ""},
		"unknown lint":                {host(`"redeliver":{"ignore":["L-1","L-99"]}`), []string{`host.json:2:30: redeliver.ignore[1]: found "L-99": not one of the allowed values; allowed: ids of lints, L-1 to L-22`}, `did you mean "L-19"?`},
		"hubs": {host(`"redeliver":{"eventHubs":{"hubs":[{"name":"a b","retention":"90.00:00:01"},{"name":"x","consumerGroups":["$DEFAULT","a.b","a/b"]}]}}`), []string{
			`host.json:2:43: redeliver.eventHubs.hubs[0].name: found "a b": not in the required form; allowed: 1 to 256 letters, digits, periods, hyphens and underscores, with a letter or digit at both ends`,
			`host.json:2:61: redeliver.eventHubs.hubs[0].retention: found "90.00:00:01": out of range; allowed: a time span above 00:00:00 and up to 90.00:00:00`,
			`host.json:2:123: redeliver.eventHubs.hubs[1].consumerGroups[2]: found "a/b": not in the required form; allowed: 1 to 50 letters, digits, periods, hyphens and underscores, with a letter or digit at both ends`,
		}, ""},
		"topic": {host(`"redeliver":{"eventGrid":{"topics":[{"name":"a b","subscriptions":[{"maxDeliveryAttempts":31}]}]}}`), []string{
			`host.json:2:45: redeliver.eventGrid.topics[0].name: found "a b": not in the required form; allowed: 1 to 50 letters, digits and hyphens`,
			`host.json:2:68: redeliver.eventGrid.topics[0].subscriptions[0].name: is required; allowed: text`,
			`host.json:2:91: redeliver.eventGrid.topics[0].subscriptions[0].maxDeliveryAttempts: found 31: out of range; allowed: a whole number from 1 to 30`,
		}, ""},
		"keys as written": {host(`"EXTENSIONS":{"Queues":{"BatchSize":0}}`),
			[]string{`host.json:2:37: EXTENSIONS.Queues.BatchSize: found 0: out of range; allowed: a whole number from 1 to 32 {argument-out-of-range}`}, ""},
		"the last of two counts": {host(`"extensions":{"queues":{"batchSize":0,"batchSize":1}}`), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := parse(t, "host.json", c.text)
			check(t, d, schemas.HostJSON, c.want...)
			if faults := d.Validate(schemas.HostJSON); len(faults) > 0 && faults[0].Hint != c.hint {
				t.Errorf("hint %q, want %q", faults[0].Hint, c.hint)
			}
		})
	}
}

// TestHostInOneGo: every fault of a file, in the order of the text.
func TestHostInOneGo(t *testing.T) {
	t.Parallel()
	text := `{
  "redeliver": { "wakeUp": "slow" },
  "functionTimeout": "never",
  "extensions": {
    "queues": { "batchSize": 99, "maxDequeueCount": 0 }
  },
  "version": "3.0"
}`
	for range 20 { // the order of maps does not show
		check(t, parse(t, "host.json", text), schemas.HostJSON,
			`host.json:2:28: redeliver.wakeUp: found "slow": not one of the allowed values; allowed: "fast" or "faithful"`,
			`host.json:3:22: functionTimeout: found "never": cannot be read as a time span: want [-]hh:mm:ss, with days as d.hh:mm:ss and fractions as hh:mm:ss.fffffff; allowed: a time span from 00:00:01 to 24.20:31:23.647, or -1 for no limit {invalid-operation}`,
			`host.json:5:30: extensions.queues.batchSize: found 99: out of range; allowed: a whole number from 1 to 32 {argument-out-of-range}`,
			`host.json:5:53: extensions.queues.maxDequeueCount: found 0: MaxDequeueCount must not be less than 1; allowed: a whole number of 1 or more {argument-out-of-range}`,
			`host.json:7:14: version: found "3.0": not a supported version; allowed: the text "2.0" {configuration}`,
		)
	}
}

// TestHostCanonical: spelling and types as the platform's configuration reads them.
func TestHostCanonical(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"case":               {`{"VERSION":"x","Retry":{"STRATEGY":"FixedDelay","maxretrycount":4}}`, `{"VERSION":"x","retry":{"maxRetryCount":4,"strategy":"fixedDelay"}}`},
		"text":               {`{"extensions":{"queues":{"batchSize":" 5 ","visibilityTimeout":10}},"healthMonitor":{"enabled":"TRUE"}}`, `{"extensions":{"queues":{"batchSize":5,"visibilityTimeout":"10"}},"healthMonitor":{"enabled":true}}`},
		"numbers as text":    {`{"version":2.0,"extensions":{"http":{"routePrefix":1e2}}}`, `{"extensions":{"http":{"routePrefix":"100"}},"version":"2"}`},
		"bool as text":       {`{"extensions":{"http":{"routePrefix":true}}}`, `{"extensions":{"http":{"routePrefix":"True"}}}`},
		"null":               {`{"retry":null,"functions":[null,"A"],"extensions":{"http":{"routePrefix":null}}}`, `{"extensions":{"http":{"routePrefix":""}},"functions":["","A"]}`},
		"null after a value": {`{"functionTimeout":"00:01:00","functionTimeout":null}`, `{}`},
		"list by index":      {`{"functions":{"0":"A","1":"B"}}`, `{"functions":["A","B"]}`},
		"comma list":         {`{"redeliver":{"ignore":"L-1, l-2"}}`, `{"redeliver":{"ignore":["L-1","L-2"]}}`},
		"free keys":          {`{"logging":{"loglevel":{"Function.A":"warning"}}}`, `{"logging":{"logLevel":{"Function.A":"Warning"}}}`},
		"no object":          {`[1]`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(parse(t, "host.json", c.text).Canonical(schemas.HostJSON))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

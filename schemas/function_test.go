package schemas_test

import (
	"encoding/json"
	"testing"

	"github.com/redeliver/redeliver/schemas"
)

const trigger = `{"name":"t","type":"queueTrigger","queueName":"q"}`

// bind wraps a binding in a function.json of which it is the second line.
func bind(binding string) string { return "{\"bindings\":[\n" + binding + "]}" }

// TestFunctionFaults: sections 5.2, 5.3 and 5.4 of host-and-retry, and the
// binding tables of storage 11 and spec messaging 2.2, 2.6, 5.7, 6.1, 7.
func TestFunctionFaults(t *testing.T) {
	t.Parallel()
	const name = `allowed: letters, digits and single underscores, not beginning with a digit, 128 in all; or $return {argument}`
	const out = `this binding has no input, and a binding without direction is one; allowed: "out" {invalid-operation}`
	for title, c := range map[string]struct {
		text string
		want []string
	}{
		"no bindings":          {`{}`, []string{`function.json:1:1: bindings: at least one binding must be declared; allowed: a list with at least one binding {format}`}},
		"bindings empty":       {`{"bindings":[]}`, []string{`function.json:1:13: bindings: found []: at least one binding must be declared; allowed: a list with at least one binding {format}`}},
		"bindings null":        {`{"bindings":null}`, []string{`function.json:1:1: bindings: at least one binding must be declared; allowed: a list with at least one binding {format}`}},
		"bindings an object":   {`{"bindings":{"0":{}}}`, []string{`function.json:1:13: bindings: found an object: at least one binding must be declared; allowed: a list with at least one binding {format}`}},
		"Bindings by case":     {`{"Bindings":[` + trigger + `]}`, []string{`function.json:1:1: bindings: at least one binding must be declared; allowed: a list with at least one binding {format}`}},
		"root is a list":       {`[]`, []string{`function.json:1:1: found []: cannot be read as an object; allowed: an object {json}`}},
		"binding is text":      {bind(`"x"`), []string{`function.json:2:1: bindings[0]: found "x": cannot be read as an object; allowed: an object {format}`}},
		"binding is null":      {bind(`null`), []string{`function.json:2:1: bindings[0]: found null: cannot be read as an object; allowed: an object {format}`}},
		"name missing":         {bind(`{"type":"x"}`), []string{`function.json:2:1: bindings[0].name: a binding needs a valid name; ` + name}},
		"name empty":           {bind(`{"type":"x","name":""}`), []string{`function.json:2:20: bindings[0].name: found "": not a valid binding name; ` + name}},
		"name with hyphen":     {bind(`{"type":"x","name":"a-b"}`), []string{`function.json:2:20: bindings[0].name: found "a-b": not a valid binding name; ` + name}},
		"name begins by digit": {bind(`{"type":"x","name":1}`), []string{`function.json:2:20: bindings[0].name: found 1: not a valid binding name; ` + name}},
		"name $Return":         {bind(`{"type":"x","name":"$Return"}`), []string{`function.json:2:20: bindings[0].name: found "$Return": not a valid binding name; ` + name}},
		"name of line end":     {bind(`{"type":"x","name":"a\n"}`), []string{`function.json:2:20: bindings[0].name: found "a\n": not a valid binding name; ` + name}},
		"type missing":         {bind(`{"name":"a"}`), []string{`function.json:2:1: bindings[0].type: a binding must specify a type; allowed: the name of a binding type, such as "queueTrigger" {argument}`}},
		"type empty":           {bind(`{"name":"a","type":""}`), []string{`function.json:2:1: bindings[0].type: a binding must specify a type; allowed: the name of a binding type, such as "queueTrigger" {argument}`}},
		"type unknown":         {bind(`{"name":"a","type":"kafkaTrigger"}`), nil},
		"direction unknown":    {bind(`{"name":"a","type":"x","direction":"sideways"}`), []string{`function.json:2:36: bindings[0].direction: found "sideways": not a valid binding direction; allowed: "in", "out" or "inout" {format}`}},
		"direction any case":   {bind(`{"name":"a","type":"x","direction":"InOut"}`), nil},
		"$return must be out":  {bind(`{"name":"$return","type":"x"}`), []string{`function.json:2:1: bindings[0].direction: the binding $return must have this direction; allowed: "out" {argument}`}},
		"$return is out":       {bind(`{"name":"$return","type":"x","direction":"Out"}`), nil},
		"dataType unknown":     {bind(`{"name":"a","type":"x","dataType":"xml"}`), []string{`function.json:2:35: bindings[0].dataType: found "xml": not one of the allowed values; allowed: "undefined", "string", "binary" or "stream" {json}`}},
		"cardinality unknown":  {bind(`{"name":"a","type":"x","cardinality":"few"}`), []string{`function.json:2:38: bindings[0].cardinality: found "few": not one of the allowed values; allowed: "one" or "many" {json}`}},

		"queueTrigger":            {bind(`{"name":"a","type":"queueTrigger"}`), []string{`function.json:2:1: bindings[0].queueName: is required; allowed: text {argument-null}`}},
		"queueTrigger any case":   {bind(`{"Name":"a","Type":"QUEUETRIGGER"}`), []string{`function.json:2:1: bindings[0].queueName: is required; allowed: text {argument-null}`}},
		"queue":                   {bind(`{"name":"a","type":"queue","queueName":"q"}`), []string{`function.json:2:1: bindings[0].direction: ` + out}},
		"queue as input":          {bind(`{"name":"a","type":"queue","queueName":"q","direction":"in"}`), []string{`function.json:2:56: bindings[0].direction: found "in": this binding has no input; the platform runs the function, and then fails each of its deliveries; allowed: "out" {invalid-operation}`}},
		"blobTrigger":             {bind(`{"name":"a","type":"blobTrigger","source":"scan"}`), []string{`function.json:2:1: bindings[0].path: is required; allowed: text {argument-null}`, `function.json:2:43: bindings[0].source: found "scan": not one of the allowed values; allowed: "LogsAndContainerScan" or "EventGrid" {json}`}},
		"blob":                    {bind(`{"name":"a","type":"blob"}`), []string{`function.json:2:1: bindings[0].path: is required; allowed: text {argument-null}`}},
		"serviceBusTrigger":       {bind(`{"name":"a","type":"serviceBusTrigger","isSessionsEnabled":"x"}`), []string{`function.json:2:1: bindings[0].queueName: is required; allowed: queueName, or topicName with subscriptionName {argument-null}`, `function.json:2:60: bindings[0].isSessionsEnabled: found "x": cannot be read as true or false; allowed: true or false {json}`}},
		"serviceBusTrigger topic": {bind(`{"name":"a","type":"serviceBusTrigger","topicName":"t"}`), []string{`function.json:2:1: bindings[0].subscriptionName: is required; allowed: queueName, or topicName with subscriptionName {argument-null}`}},
		"serviceBus":              {bind(`{"name":"a","type":"serviceBus","direction":"out"}`), []string{`function.json:2:1: bindings[0].queueName: is required; allowed: queueName, or topicName {argument-null}`}},
		"eventGridTrigger":        {bind(`{"name":"a","type":"eventGridTrigger"}`), nil},
		"eventGrid":               {bind(`{"name":"a","type":"eventGrid"}`), []string{`function.json:2:1: bindings[0].direction: ` + out}},
		"eventHubTrigger":         {bind(`{"name":"a","type":"eventHubTrigger"}`), []string{`function.json:2:1: bindings[0].eventHubName: is required; allowed: text {argument-null}`}},
		"eventHub":                {bind(`{"name":"a","type":"eventHub","direction":"out"}`), []string{`function.json:2:1: bindings[0].eventHubName: is required; allowed: text {argument-null}`}},
		"cosmosDBTrigger": {bind(`{"name":"a","type":"cosmosDBTrigger","feedPollDelay":-1,"startFromTime":"x"}`), []string{
			`function.json:2:1: bindings[0].databaseName: is required; allowed: text {argument-null}`,
			`function.json:2:1: bindings[0].containerName: is required; allowed: text {argument-null}`,
			`function.json:2:54: bindings[0].feedPollDelay: found -1: out of range; allowed: a whole number of 0 or more {argument-out-of-range}`,
			`function.json:2:73: bindings[0].startFromTime: found "x": cannot be read as a time; allowed: a time such as 2021-02-16T14:19:29Z {json}`,
		}},
		"cosmosDBTrigger mode in any case": {bind(`{"name":"a","type":"cosmosDBTrigger","databaseName":"d","containerName":"c","startFromBeginning":true,"changeFeedMode":"latestVERSION"}`), nil},
		"cosmosDBTrigger mode that is not built": {bind(`{"name":"a","type":"cosmosDBTrigger","databaseName":"d","containerName":"c","changeFeedMode":"allVersionsAndDeletes","startFromBeginning":true}`), []string{
			`function.json:2:94: bindings[0].changeFeedMode: found "allVersionsAndDeletes": Redeliver does not serve this mode; allowed: "LatestVersion"`,
			`function.json:2:139: bindings[0].startFromBeginning: found true: changeFeedMode AllVersionsAndDeletes begins now; allowed: no start in the past {invalid-operation}`,
		}},
		"cosmosDBTrigger mode unknown": {bind(`{"name":"a","type":"cosmosDBTrigger","databaseName":"d","containerName":"c","changeFeedMode":"Nonsense"}`),
			[]string{`function.json:2:94: bindings[0].changeFeedMode: found "Nonsense": not one of the allowed values; allowed: "LatestVersion" or "AllVersionsAndDeletes" {json}`}},
		"cosmosDBTrigger two starts": {bind(`{"name":"a","type":"cosmosDBTrigger","databaseName":"d","containerName":"c","startFromBeginning":true,"startFromTime":"2021-02-16T14:19:29Z"}`),
			[]string{`function.json:2:119: bindings[0].startFromTime: found "2021-02-16T14:19:29Z": startFromBeginning is set too; allowed: startFromTime or startFromBeginning {invalid-operation}`}},
		"cosmosDB client":                           {bind(`{"name":"a","type":"cosmosDB"}`), nil},
		"cosmosDB":                                  {bind(`{"name":"a","type":"cosmosDB","direction":"out","databaseName":"d"}`), []string{`function.json:2:1: bindings[0].containerName: is required; allowed: text {argument-null}`}},
		"httpTrigger level of no key":               {bind(`{"name":"a","type":"httpTrigger","authLevel":"System"}`), nil},
		"blob by the platform's name":               {bind(`{"name":"a","type":"blob","blobPath":"c/b"}`), nil},
		"serviceBus by the platform's names":        {bind(`{"name":"a","type":"serviceBus","direction":"out","queueOrTopicName":"t","entityType":"Topic"}`), nil},
		"serviceBusTrigger by the platform's names": {bind(`{"name":"a","type":"serviceBusTrigger","queueOrTopicName":"t"}`), []string{`function.json:2:1: bindings[0].queueName: is required; allowed: queueName, or topicName with subscriptionName {argument-null}`}},
		"httpTrigger authLevel":                     {bind(`{"name":"a","type":"httpTrigger","authLevel":"root"}`), []string{`function.json:2:46: bindings[0].authLevel: found "root": not one of the allowed values; allowed: "anonymous", "user", "function", "system" or "admin" {json}`}},
		"httpTrigger methods":                       {bind(`{"name":"a","type":"httpTrigger","methods":"get"}`), []string{`function.json:2:44: bindings[0].methods: found "get": cannot be read as a list; allowed: a list {json}`}},
		"http":                                      {bind(`{"name":"a","type":"http"}`), []string{`function.json:2:1: bindings[0].direction: ` + out}},
		"timerTrigger":                              {bind(`{"name":"a","type":"timerTrigger","useMonitor":"maybe"}`), []string{`function.json:2:1: bindings[0].schedule: is required; allowed: text {argument-null}`, `function.json:2:48: bindings[0].useMonitor: found "maybe": cannot be read as true or false; allowed: true or false {json}`}},
		"settings are not read":                     {bind(`{"name":"a","type":"timerTrigger","schedule":"%S%","useMonitor":"%M%","dataType":"%D%"}`), nil},

		"configurationSource":          {`{"bindings":[` + trigger + `],"ConfigurationSource":"code"}`, []string{`function.json:1:88: ConfigurationSource: found "code": not one of the allowed values; allowed: "attributes" or "config" {format}`}},
		"configurationSource any case": {`{"bindings":[` + trigger + `],"CONFIGURATIONSOURCE":"Attributes"}`, nil},
		"disabled":                     {`{"bindings":[` + trigger + `],"disabled":{}}`, nil},
		"retry empty text":             {`{"bindings":[` + trigger + `],"retry":""}`, nil},
		"numbers of words":             {"{\"bindings\":[{\"name\":\"a\",\"type\":\"httpTrigger\",\"authLevel\":\" function,4\",\"dataType\":5,\"cardinality\":\"1\",\"methods\":[null,5]}]}", nil},
		"numbers of booleans":          {`{"bindings":[{"name":"a","type":"timerTrigger","schedule":"* * * * * *","runOnStartup":1.5,"useMonitor":0}]}`, nil},
		"unknown keys":                 {`{"bindings":[` + trigger + `],"generatedBy":"x","$schema":5}`, nil},
		"retry null":                   {`{"bindings":[` + trigger + `],"retry":null}`, nil},
		"retry text":                   {`{"bindings":[` + trigger + `],"retry":"no"}`, []string{`function.json:1:74: retry: found "no": cannot be read as an object; allowed: an object {json}`}},
		"Retry by case":                {`{"bindings":[` + trigger + `],"Retry":"no"}`, nil},
		"retry incomplete is not ours": {`{"bindings":[` + trigger + `],"retry":{"maxRetryCount":-4}}`, nil},
		"retry numbers":                {"{\"bindings\":[" + trigger + "],\n\"retry\":{\"Strategy\":0,\"MaxRetryCount\":1.5}}", nil},
		"retry conversions": {"{\"bindings\":[" + trigger + "],\n\"retry\":{\"Strategy\":1.5,\"MaxRetryCount\":1e300,\"DelayInterval\":10}}", []string{
			`function.json:2:21: retry.Strategy: found 1.5: not one of the allowed values; allowed: "fixedDelay" or "exponentialBackoff" {json}`,
			`function.json:2:41: retry.MaxRetryCount: found 1e300: cannot be read as a whole number of 32 bits; allowed: -1 (for ever), or a whole number of 0 or more {json}`,
			`function.json:2:63: retry.DelayInterval: found 10: cannot be read as a time span; allowed: a time span from 00:00:00 to 49.17:02:47.2940000 {json}`,
		}},
		"retry text for the count": {`{"bindings":[` + trigger + `],"retry":{"maxRetryCount":"5"}}`, nil},
		"retry count of 33 bits":   {"{\"bindings\":[" + trigger + "],\n\"retry\":{\"maxRetryCount\":4294967296}}", []string{`function.json:2:26: retry.maxRetryCount: found 4294967296: cannot be read as a whole number of 32 bits; allowed: -1 (for ever), or a whole number of 0 or more {json}`}},
		"retry strategy linear":    {"{\"bindings\":[" + trigger + "],\n\"retry\":{\"strategy\":\"linear\"}}", []string{`function.json:2:21: retry.strategy: found "linear": not one of the allowed values; allowed: "fixedDelay" or "exponentialBackoff" {json}`}},
		"circuit breaker": {"{\"bindings\":[" + trigger + "],\n\"redeliver\":{\"circuitBreaker\":{\"failures\":0,\"probes\":0}}}", []string{
			`function.json:2:31: redeliver.circuitBreaker.pause: is required; allowed: a time span above 00:00:00`,
			`function.json:2:43: redeliver.circuitBreaker.failures: found 0: out of range; allowed: a whole number of 1 or more`,
			`function.json:2:54: redeliver.circuitBreaker.probes: found 0: out of range; allowed: a whole number of 1 or more`,
		}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			check(t, parse(t, "function.json", c.text), schemas.FunctionJSON, c.want...)
		})
	}
}

func TestFunctionCanonical(t *testing.T) {
	t.Parallel()
	d := parse(t, "function.json", `{"Retry":1,"bindings":[{"NAME":"a","Type":"TimerTrigger","direction":"IN","RunOnStartup":"True","useMonitor":"%M%","schedule":5,"x":"y"}],"retry":{"MAXRETRYCOUNT":"3","delayInterval":"","strategy":"FIXEDDELAY"}}`)
	got, err := json.Marshal(d.Canonical(schemas.FunctionJSON))
	want := `{"Retry":1,"bindings":[{"direction":"in","name":"a","runOnStartup":true,"schedule":"5","type":"timerTrigger","x":"y"}],"retry":{"maxRetryCount":3,"strategy":"fixedDelay"}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

// TestLocalSettingsFaults: section 6.4; these are our own words, without a kind.
func TestLocalSettingsFaults(t *testing.T) {
	t.Parallel()
	check(t, parse(t, "local.settings.json", `{"isEncrypted":"no",
"Values":{"A.B":{},"C":["x"]},
"Host":{"LocalHttpPort":70000,"CORSCredentials":5},
"ConnectionStrings":{"A":{},"B":7,"C":[]}}`), schemas.LocalSettings,
		`local.settings.json:1:16: isEncrypted: found "no": cannot be read as true or false; allowed: true or false`,
		`local.settings.json:2:17: Values["A.B"]: found {}: cannot be read as text or null; allowed: text or null`,
		`local.settings.json:2:24: Values.C: found a list: cannot be read as text or null; allowed: text or null`,
		`local.settings.json:3:25: Host.LocalHttpPort: found 70000: out of range; allowed: a whole number from 1 to 65535`,
		`local.settings.json:3:49: Host.CORSCredentials: found 5: cannot be read as true or false; allowed: true or false`,
		`local.settings.json:4:26: ConnectionStrings.A.ConnectionString: is required; allowed: text`,
		`local.settings.json:4:39: ConnectionStrings.C: found []: cannot be read as text or an object; allowed: text, or an object with ConnectionString and ProviderName`,
	)
}

// TestJournalFaults: the journal's own lines are held to the letter.
func TestJournalFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty":          {`{}`, []string{`journal.json:1:1: seq: is required; allowed: a whole number of 1 or more`, `journal.json:1:1: time: is required; allowed: a time`, `journal.json:1:1: kind: is required; allowed: ` + kinds}},
		"unknown kind":   {`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"Settled"}`, []string{`journal.json:1:47: kind: found "Settled": not one of the allowed values; allowed: ` + kinds}},
		"seq as text":    {`{"seq":"1","time":"2026-01-01T00:00:00Z","kind":"expired"}`, []string{`journal.json:1:8: seq: found "1": cannot be read as a whole number; allowed: a whole number of 1 or more`}},
		"settled":        {`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"settled"}`, []string{`journal.json:1:1: decision: is required; allowed: ` + decisions}},
		"delay":          {`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"retry_scheduled","delay":"10s"}`, []string{`journal.json:1:73: delay: found "10s": cannot be read as a time span: want [-]hh:mm:ss, with days as d.hh:mm:ss and fractions as hh:mm:ss.fffffff; allowed: a time span such as 00:00:30`}},
		"time":           {`{"seq":1,"time":"today","kind":"expired"}`, []string{`journal.json:1:17: time: found "today": cannot be read as a time; allowed: a time`}},
		"key of no case": {`{"seq":1,"Seq":1,"time":"2026-01-01T00:00:00Z","kind":"expired"}`, []string{`journal.json:1:16: Seq: found "Seq": unknown name; allowed: app, attempt, cause, decision, delay, delivery, delivery_count, error, fields, function, generation, invocation, kind, level, max_retry_count, message, message_id, message_number, name, note, pid, retry_count, seq, service, source, status, target, time, trigger`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, parse(t, "journal.json", c.text), schemas.Journal, c.want...)
		})
	}
}

const (
	kinds     = `"host_started", "host_stopped", "generation_loaded", "generation_refused", "edit_undone", "function_error", "process_started", "process_exited", "service_unreachable", "service_back", "listener_lock_lost", "received", "attempt_started", "attempt_ended", "retry_scheduled", "retries_exhausted", "retry_cancelled", "output_recorded", "table_written", "settled", "enqueued", "expired", "purged", "state_loaded", "lock_renewed", "lock_expired", "dead_lettered", "forwarded", "checkpoint_written", "transaction_ended", "event_attempted", "event_delayed", "event_dropped", "instance_started", "orchestration_turn", "task_scheduled", "task_ended", "event_raised", "instance_controlled", "instance_ended", "entity_batch", "durable_finding", "handler_log", "fault_injected", "clock_moved", "circuit_opened", "circuit_half_opened" or "circuit_closed"`
	decisions = `"deleted", "released", "poisoned", "dropped", "undecodable", "completed", "abandoned", "deferred", "dead_lettered", "lock_lost", "checkpointed", "not_checkpointed", "responded", "recorded" or "reported"`
)

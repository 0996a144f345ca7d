package app_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/retrycontext"
)

func fixed(count int, delay time.Duration) *retrycontext.Policy {
	return &retrycontext.Policy{Strategy: retrycontext.FixedDelay, MaxRetryCount: count, DelayInterval: delay}
}

func backoff(count int, low, high time.Duration) *retrycontext.Policy {
	return &retrycontext.Policy{Strategy: retrycontext.ExponentialBackoff, MaxRetryCount: count, MinimumInterval: low, MaximumInterval: high}
}

func hostWith(sections string) string { return `{"version": "2.0", ` + sections + `}` }

// Sections 1.1, 1.5, 6.3: which policy a function gets, and from where.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	declared := func(c *retrycontext.PolicyConfig) []call.Declaration {
		return []call.Declaration{{Name: "orders", Retry: c}}
	}
	strategy, count, delay := "fixedDelay", 7, time.Second
	inCode := &retrycontext.PolicyConfig{Strategy: &strategy, MaxRetryCount: &count, DelayInterval: &delay}
	appPolicy, own := `"retry": `+exponential, `"retry": `+fixed5
	for _, tt := range []struct {
		name, host, function string
		env                  map[string]string
		declared             []call.Declaration
		want                 *retrycontext.Policy
		source               app.PolicySource
		file, path           string
	}{
		{name: "none"},
		{name: "app only", host: appPolicy, want: backoff(4, 10*time.Second, 15*time.Minute), source: app.FromApp, file: "host.json", path: "retry"},
		{name: "function only", function: own, want: fixed(5, 10*time.Second), source: app.FromFunction, file: "Orders/function.json", path: "retry"},
		{name: "both", host: appPolicy, function: own, want: fixed(5, 10*time.Second), source: app.FromFunction, file: "Orders/function.json", path: "retry"},
		{name: "null in function", host: appPolicy, function: `"retry": null`, want: backoff(4, 10*time.Second, 15*time.Minute), source: app.FromApp, file: "host.json", path: "retry"},
		{name: "null in host", host: `"retry": null`},
		{
			name: "no retry in spite of the app", host: appPolicy, function: `"retry": {"strategy": "fixedDelay", "maxRetryCount": 0, "delayInterval": "0:0"}`,
			want: fixed(0, 0), source: app.FromFunction, file: "Orders/function.json", path: "retry",
		},
		{name: "key in another case is ignored", host: appPolicy, function: `"Retry": ` + fixed5, want: backoff(4, 10*time.Second, 15*time.Minute), source: app.FromApp, file: "host.json", path: "retry"},
		{
			name: "keys inside in any case", function: `"retry": {"STRATEGY": "FIXEDDELAY", "maxretrycount": 2, "DelayInterval": "00:00:01"}`,
			want: fixed(2, time.Second), source: app.FromFunction, file: "Orders/function.json", path: "retry",
		},
		{
			name: "app, every key in any case", host: `"RETRY": {"Strategy": "fixeddelay", "MAXRETRYCOUNT": "2", "delayinterval": 1}`,
			want: fixed(2, 24*time.Hour), source: app.FromApp, file: "host.json", path: "retry",
		},
		{
			name: "app, numbers become text first", host: `"retry": {"strategy": "fixedDelay", "maxRetryCount": 2.0, "delayInterval": 1.0}`,
			want: fixed(2, 24*time.Hour), source: app.FromApp, file: "host.json", path: "retry",
		},
		{
			name: "function, a whole number in another form", function: `"retry": {"strategy": "fixedDelay", "maxRetryCount": 3.0, "delayInterval": "00:00:01"}`,
			want: fixed(3, time.Second), source: app.FromFunction, file: "Orders/function.json", path: "retry",
		},
		{
			name: "override with a sign and zeros", host: appPolicy, env: map[string]string{"AzureFunctionsJobHost__retry__maxRetryCount": "+03"},
			want: backoff(3, 10*time.Second, 15*time.Minute), source: app.FromEnvironment, file: "environment", path: "retry",
		},
		{
			name: "properties of the other strategy are ignored", function: `"retry": {"strategy": "fixedDelay", "maxRetryCount": 1, "delayInterval": "00:00:01", "minimumInterval": "-1", "other": 1}`,
			want: fixed(1, time.Second), source: app.FromFunction, file: "Orders/function.json", path: "retry",
		},
		{
			name: "override merges per key", host: appPolicy, env: map[string]string{"AzureFunctionsJobHost__retry__maxRetryCount": "1"},
			want: backoff(1, 10*time.Second, 15*time.Minute), source: app.FromEnvironment, file: "environment", path: "retry",
		},
		{
			name: "override alone, complete", want: fixed(3, time.Second), source: app.FromEnvironment, file: "environment", path: "retry",
			env: map[string]string{"AzureFunctionsJobHost:Retry:strategy": "fixedDelay", "AZUREFUNCTIONSJOBHOST__RETRY__MAXRETRYCOUNT": "3", "AzureFunctionsJobHost__retry__delayInterval": "00:00:01"},
		},
		{
			name: "function over override", host: appPolicy, function: own, env: map[string]string{"AzureFunctionsJobHost__retry__maxRetryCount": "1"},
			want: fixed(5, 10*time.Second), source: app.FromFunction, file: "Orders/function.json", path: "retry",
		},
		{name: "function.json without retry: the app, not the code", host: appPolicy, declared: declared(inCode), want: backoff(4, 10*time.Second, 15*time.Minute), source: app.FromApp, file: "host.json", path: "retry"},
		{name: "function.json without retry, no app policy", declared: declared(inCode)},
		{name: "function.json over code", function: own, declared: declared(inCode), want: fixed(5, 10*time.Second), source: app.FromFunction, file: "Orders/function.json", path: "retry"},
		{name: "null in function.json", function: `"retry": null`, declared: declared(inCode)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"Orders/function.json": functionJSON(queueBinding, tt.function)}
			if tt.host != "" {
				files["host.json"] = hostWith(tt.host)
			}
			a := load(t, files, &app.Options{InProcess: true, Env: tt.env, Declared: tt.declared})
			wantNoFaults(t, a)
			f := function(t, a, "Orders")
			if diff := cmp.Diff(tt.want, f.Policy); diff != "" {
				t.Errorf("policy (-want +got):\n%s", diff)
			}
			if f.PolicySource != tt.source || f.PolicyFile != tt.file || f.PolicyPath != tt.path {
				t.Errorf("from %q %s %s, want %q %s %s", f.PolicySource, f.PolicyFile, f.PolicyPath, tt.source, tt.file, tt.path)
			}
		})
	}
}

// What the code says of a function with a function.json has no effect, and is told.
func TestFileOverCode(t *testing.T) {
	t.Parallel()
	strategy, count, delay := "fixedDelay", 7, time.Second
	d := call.Declaration{
		Name: "Orders", Retry: &retrycontext.PolicyConfig{Strategy: &strategy, MaxRetryCount: &count, DelayInterval: &delay},
		CircuitBreaker: &call.CircuitBreaker{Failures: 3, Pause: time.Minute, Probes: 2}, Disabled: true,
	}
	a := load(t, map[string]string{"Orders/function.json": functionJSON(queueBinding, "")}, &app.Options{InProcess: true, Declared: []call.Declaration{d}})
	wantNoFaults(t, a)
	f := function(t, a, "Orders")
	if f.Policy != nil || f.CircuitBreaker != nil || f.Disabled {
		t.Errorf("policy %v, circuit breaker %v, disabled %v", f.Policy, f.CircuitBreaker, f.Disabled)
	}
	var got []string
	for _, w := range f.Warnings {
		got = append(got, w.Error()+"; "+w.Hint)
	}
	const rest = " of the function, which has no effect: Orders/function.json counts as a whole; write "
	if diff := cmp.Diff([]string{
		"code: Orders: the code declares retry" + rest + "retry into Orders/function.json",
		"code: Orders: the code declares redeliver.circuitBreaker" + rest + "redeliver.circuitBreaker into Orders/function.json",
		"code: Orders: the code declares disabled" + rest + "disabled into Orders/function.json",
	}, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	given := functionJSON(queueBinding, `"retry": `+fixed5+`, "disabled": false, "redeliver": {"circuitBreaker": {"failures": 1, "pause": "00:01:00"}}`)
	a = load(t, map[string]string{"Orders/function.json": given}, &app.Options{InProcess: true, Declared: []call.Declaration{d}})
	if f := function(t, a, "Orders"); len(f.Warnings) > 0 || f.Disabled || f.Policy == nil || f.Policy.MaxRetryCount != 5 {
		t.Errorf("with all three in the file: %+v", f)
	}
}

// D-1, D-2 and the order of overrides in 0.2.
func TestSwitchesOnPolicies(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"host.json":            hostWith(`"retry": ` + fixed5 + `, "redeliver": {"retryCounting": "runtime"}`),
		"Orders/function.json": functionJSON(queueBinding, ""),
		"Tick/function.json":   functionJSON(timerBinding, ""),
		"Once/function.json":   functionJSON(timerBinding, `"retry": {"strategy": "fixedDelay", "maxRetryCount": 0, "delayInterval": "0:0"}`),
		"Ever/function.json":   functionJSON(timerBinding, `"retry": {"strategy": "fixedDelay", "maxRetryCount": -1, "delayInterval": "0:0"}`),
	}
	env := map[string]string{"AzureFunctionsJobHost__redeliver__retryCounting": "documented"}
	for _, tt := range []struct {
		name  string
		env   map[string]string
		set   []string
		count map[string]int // -2: no policy
	}{
		{name: "runtime", count: map[string]int{"Orders": 5, "Tick": 5, "Once": 0, "Ever": -1}},
		{name: "documented by environment", env: env, count: map[string]int{"Orders": 4, "Tick": 4, "Once": 0, "Ever": -1}},
		{name: "--set over environment", env: env, set: []string{"retryCounting=runtime"}, count: map[string]int{"Orders": 5, "Tick": 5, "Once": 0, "Ever": -1}},
		{name: "the last --set wins", set: []string{"RetryCounting=runtime", "retrycounting=Documented"}, count: map[string]int{"Orders": 4, "Tick": 4, "Once": 0, "Ever": -1}},
		{name: "ga", set: []string{"retryTriggers=ga"}, count: map[string]int{"Orders": -2, "Tick": 5, "Once": 0, "Ever": -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, files, &app.Options{InProcess: true, Env: tt.env, Set: tt.set})
			wantNoFaults(t, a)
			for name, want := range tt.count {
				f := function(t, a, name)
				got := -2
				if f.Policy != nil {
					got = f.Policy.MaxRetryCount
				}
				if got != want {
					t.Errorf("%s: got %d retries, want %d", name, got, want)
				}
				if f.Original == nil {
					t.Errorf("%s: the configured policy is lost", name)
				}
			}
		})
	}
}

func TestSwitches(t *testing.T) {
	t.Parallel()
	defaults := load(t, nil, nil).Switches
	want := hostjson.Switches{
		RetryCounting: "runtime", RetryTriggers: "all", WorkerCrash: "keep", WakeUp: "fast", AutoCreateEntities: "functions",
		AutoForwardFailure: "tdlq", MaxForwardHops: 4, EventGridSchedule: "2019", TablePages: "full", DurableReplayCheck: "off", DurableStuck: "faithful", DurableEvents: "faithful", EventGridJitterPercent: 10, EventGridProbation: true,
		Explicit: map[string]bool{},
	}
	if diff := cmp.Diff(want, defaults); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	a := load(t, nil, &app.Options{InProcess: true, Set: []string{
		"retryCounting=documented", "retryTriggers=ga", "workerCrash=stop", "wakeUp=faithful", "autoCreateEntities=none", "strictSessionSend=true",
		"autoForwardFailure=dlq", "maxForwardHops=9", "eventGridSchedule=current", "eventGridJitterPercent=0", "eventGridProbation=off", "ignore=L-2,l-1",
	}})
	wantNoFaults(t, a)
	a.Switches.Explicit = nil
	want = hostjson.Switches{
		RetryCounting: "documented", RetryTriggers: "ga", WorkerCrash: "stop", WakeUp: "faithful", AutoCreateEntities: "none", StrictSessionSend: true,
		AutoForwardFailure: "dlq", MaxForwardHops: 9, EventGridSchedule: "current", TablePages: "full", DurableReplayCheck: "off", DurableStuck: "faithful", DurableEvents: "faithful", EventGridJitterPercent: 0, Ignore: []string{"L-1", "L-2"},
	}
	if diff := cmp.Diff(want, a.Switches); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
}

// Section 2.7: one warning for a function with a policy, own or inherited, on a
// trigger without official support.
func TestRetrySupportWarning(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{
		"host.json":            hostWith(`"retry": ` + fixed5),
		"Orders/function.json": functionJSON(queueBinding, ""),
		"Tick/function.json":   functionJSON(timerBinding, ""),
	}, nil)
	if w := function(t, a, "Orders").RetrySupportWarning(); w == nil || w.File != "host.json" || w.Hint == "" {
		t.Errorf("queue: got %v", w)
	}
	if w := function(t, a, "Tick").RetrySupportWarning(); w != nil {
		t.Errorf("timer: got %v", w)
	}
	if f := function(t, a, "Orders"); f.Policy == nil {
		t.Error("the policy must stay active")
	}
}

// Section 14.2.
func TestCircuitBreaker(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{
		"A/function.json": functionJSON(timerBinding, `"redeliver": {"circuitBreaker": {"failures": 3, "pause": "00:01:00"}}`),
		"B/function.json": functionJSON(timerBinding, `"redeliver": {"circuitBreaker": {"failures": 1, "pause": "00:00:10", "probes": 2}}`),
		"C/function.json": functionJSON(timerBinding, ""),
	}, nil)
	wantNoFaults(t, a)
	for name, want := range map[string]*app.CircuitBreaker{
		"A": {Failures: 3, Pause: time.Minute, Probes: 1},
		"B": {Failures: 1, Pause: 10 * time.Second, Probes: 2},
		"C": nil,
	} {
		if diff := cmp.Diff(want, function(t, a, name).CircuitBreaker); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

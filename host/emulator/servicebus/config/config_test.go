package config_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/config"
)

var start = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

func parse(t *testing.T, text string) *config.Entities {
	t.Helper()
	e, faults := config.Parse("Config.json", []byte(text))
	for _, f := range faults {
		t.Errorf("fault: %v", f)
	}
	for _, w := range e.Warnings {
		t.Errorf("warning: %v", w)
	}
	if t.Failed() {
		t.FailNow()
	}
	return e
}

func namespace(body string) string {
	return `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", ` + body + `}], "Logging": {"Type": "File"}}}`
}

// TestOfficialShape reads a file with every path that the official emulator knows.
func TestOfficialShape(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "Config.json"))
	if err != nil {
		t.Fatal(err)
	}
	e := parse(t, string(text))
	got := describe(e)
	want := []string{
		`queue orders: lock 1m0s, deliveries 3, ttl 1h0m0s, dead-letters expired true, window 20s, session false, duplicates true, to "", dead to "audit"`,
		`queue audit: lock 0s, deliveries 0, ttl 0s, dead-letters expired false, window 0s, session false, duplicates false, to "", dead to ""`,
		`topic events: ttl 1h0m0s, window 20s, duplicates false`,
		`subscription events/all: lock 1m0s, deliveries 3, ttl 1h0m0s, dead-letters expired false, session false, to "audit", dead to ""`,
		`rule correlated: Correlation contentType=application/text correlationId=id1 label=subject1 messageId=msgid1 replyTo=someQueue replyToSessionId=sessionId sessionId=session1 to=xyz map[count:3 prop1:value1 urgent:true weight:1.5]`,
		`rule sql: Sql sys.MessageId = '1' AND user.prop1 = 'v' action SET sys.To = 'Entity'`,
		`subscription events/rest: lock 0s, deliveries 0, ttl 0s, dead-letters expired false, session true, to "", dead to ""`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
}

func describe(e *config.Entities) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, q := range e.Queues {
		add("queue %s: lock %v, deliveries %d, ttl %v, dead-letters expired %v, window %v, session %v, duplicates %v, to %q, dead to %q", q.Name, q.LockDuration, q.MaxDeliveryCount,
			q.DefaultMessageTimeToLive, q.DeadLetteringOnMessageExpiration, q.DuplicateDetectionHistoryTimeWindow, q.RequiresSession, q.RequiresDuplicateDetection, q.ForwardTo, q.ForwardDeadLetteredMessagesTo)
	}
	for _, t := range e.Topics {
		add("topic %s: ttl %v, window %v, duplicates %v", t.Name, t.DefaultMessageTimeToLive, t.DuplicateDetectionHistoryTimeWindow, t.RequiresDuplicateDetection)
	}
	for _, s := range e.Subscriptions {
		add("subscription %s/%s: lock %v, deliveries %d, ttl %v, dead-letters expired %v, session %v, to %q, dead to %q", s.Topic, s.Name, s.LockDuration, s.MaxDeliveryCount,
			s.DefaultMessageTimeToLive, s.DeadLetteringOnMessageExpiration, s.RequiresSession, s.ForwardTo, s.ForwardDeadLetteredMessagesTo)
		for _, r := range s.Rules {
			text := fmt.Sprintf("rule %s: %s ", r.Name, r.Filter.Kind)
			if c := r.Filter.Correlation; r.Filter.Kind == servicebusapi.CorrelationFilter {
				text += fmt.Sprintf("contentType=%s correlationId=%s label=%s messageId=%s replyTo=%s replyToSessionId=%s sessionId=%s to=%s %v",
					*c.ContentType, *c.CorrelationID, *c.Subject, *c.MessageID, *c.ReplyTo, *c.ReplyToSessionID, *c.SessionID, *c.To, c.Properties)
			} else {
				text += r.Filter.SQL.Expression
			}
			if r.Action != nil {
				text += " action " + r.Action.Expression
			}
			out = append(out, text)
		}
	}
	return out
}

// TestFaults: one error for each fault, with its path and what may stand there.
func TestFaults(t *testing.T) {
	t.Parallel()
	queue := func(properties string) string {
		return namespace(`"Queues": [{"Name": "q", "Properties": {` + properties + `}}]`)
	}
	const q = "UserConfig.Namespaces[0].Queues[0]"
	subscription := func(body string) string {
		return namespace(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", ` + body + `}]}]`)
	}
	const s = "UserConfig.Namespaces[0].Topics[0].Subscriptions[0]"
	rule := func(properties string) string {
		return subscription(`"Rules": [{"Name": "r", "Properties": {` + properties + `}}]`)
	}
	const r = s + ".Rules[0].Properties"
	for _, c := range []struct {
		name, text string
		want       []string // "path: reason" of each
	}{
		{"no JSON", `{`, []string{": "}},
		{"no object", `[]`, []string{": not an object"}},
		{"empty", `{}`, []string{"UserConfig: is required"}},
		{"no namespaces", `{"UserConfig": {}}`, []string{"UserConfig.Namespaces: is required"}},
		{"namespaces are no list", `{"UserConfig": {"Namespaces": {}}}`, []string{"UserConfig.Namespaces: there is exactly one namespace"}},
		{"two namespaces", `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns"}, {"Name": "sbemulatorns"}]}}`, []string{"UserConfig.Namespaces: there is exactly one namespace"}},
		{"other namespace", `{"UserConfig": {"Namespaces": [{"Name": "mine"}]}}`, []string{"UserConfig.Namespaces[0].Name: the namespace of the emulator has another name"}},
		{"namespace without a name", `{"UserConfig": {"Namespaces": [{}]}}`, []string{"UserConfig.Namespaces[0].Name: is required"}},
		{"logging", `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns"}], "Logging": {"Type": "Mail"}}}`, []string{"UserConfig.Logging.Type: not one of the allowed values"}},
		{"queues are no list", namespace(`"Queues": {}`), []string{"UserConfig.Namespaces[0].Queues: not a list"}},
		{"queue is no object", namespace(`"Queues": ["q"]`), []string{q + ": not an object"}},
		{"queue without a name", namespace(`"Queues": [{}]`), []string{q + ".Name: is required"}},
		{"name is no text", namespace(`"Queues": [{"Name": 7}]`), []string{q + ".Name: not a text"}},
		{"bad name", namespace(`"Queues": [{"Name": "a b"}]`), []string{q + ".Name: "}},
		{"name of a dead-letter queue", namespace(`"Queues": [{"Name": "q/$DeadLetterQueue"}]`), []string{q + ".Name: "}},
		{"name of a subscription", namespace(`"Queues": [{"Name": "t/Subscriptions/s"}]`), []string{q + ".Name: "}},
		{"two queues", namespace(`"Queues": [{"Name": "q"}, {"Name": "Q"}]`), []string{"UserConfig.Namespaces[0].Queues[1].Name: the name is taken by " + q}},
		{"queue and topic", namespace(`"Queues": [{"Name": "q"}], "Topics": [{"Name": "Q"}]`), []string{"UserConfig.Namespaces[0].Topics[0].Name: the name is taken by " + q}},
		{"lock too short", queue(`"LockDuration": "PT4S"`), []string{q + ".Properties.LockDuration: out of range"}},
		{"lock too long", queue(`"LockDuration": "PT5M1S"`), []string{q + ".Properties.LockDuration: out of range"}},
		{"lock in another form", queue(`"LockDuration": "00:01:00"`), []string{q + ".Properties.LockDuration: cannot be read as a duration"}},
		{"lock is a number", queue(`"LockDuration": 60`), []string{q + ".Properties.LockDuration: not a duration"}},
		{"count 0", queue(`"MaxDeliveryCount": 0`), []string{q + ".Properties.MaxDeliveryCount: out of range"}},
		{"count with a fraction", queue(`"MaxDeliveryCount": 1.5`), []string{q + ".Properties.MaxDeliveryCount: out of range"}},
		{"count is text", queue(`"MaxDeliveryCount": "3"`), []string{q + ".Properties.MaxDeliveryCount: not a number"}},
		{"window", queue(`"DuplicateDetectionHistoryTimeWindow": "P7DT1S"`), []string{q + ".Properties.DuplicateDetectionHistoryTimeWindow: out of range"}},
		{"time to live", queue(`"DefaultMessageTimeToLive": "PT0S"`), []string{q + ".Properties.DefaultMessageTimeToLive: out of range"}},
		{"flag", queue(`"RequiresSession": "true"`), []string{q + ".Properties.RequiresSession: not a boolean"}},
		{"idle", queue(`"AutoDeleteOnIdle": "PT1M"`), []string{q + ".Properties.AutoDeleteOnIdle: out of range"}},
		{"status", queue(`"Status": "Asleep"`), []string{q + ".Properties.Status: not one of the allowed values"}},
		{"user metadata", queue(`"UserMetadata": "` + strings.Repeat("x", 1025) + `"`), []string{q + ".Properties.UserMetadata: too long"}},
		{"size", queue(`"MaxSizeInMegabytes": 81921`), []string{q + ".Properties.MaxSizeInMegabytes: out of range"}},
		{"target", queue(`"ForwardTo": "missing"`), []string{q + ".Properties.ForwardTo: there is no such queue or topic in this file"}},
		{"target is itself", queue(`"ForwardTo": "Q"`), []string{q + ".Properties.ForwardTo: an entity cannot forward to itself"}},
		{"sessions forward", namespace(`"Queues": [{"Name": "q", "Properties": {"ForwardTo": "p", "RequiresSession": true}}, {"Name": "p"}]`), []string{q + ".Properties.ForwardTo: an entity that requires sessions cannot forward"}},
		{"subscription forwards to its topic", subscription(`"Properties": {"ForwardTo": "t"}`), []string{s + ".Properties.ForwardTo: an entity cannot forward to itself"}},
		{"subscription without a name", namespace(`"Topics": [{"Name": "t", "Subscriptions": [{}]}]`), []string{s + ".Name: is required"}},
		{"two subscriptions", namespace(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s"}, {"Name": "S"}]}]`), []string{"UserConfig.Namespaces[0].Topics[0].Subscriptions[1].Name: the name is taken by " + s}},
		{"bad subscription", namespace(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "a/b"}]}]`), []string{s + ".Name: "}},
		{"rule without properties", subscription(`"Rules": [{"Name": "r"}]`), []string{r + ": is required"}},
		{"two rules", subscription(`"Rules": [{"Name": "r", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1"}}}, {"Name": "R", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1"}}}]`),
			[]string{s + ".Rules[1].Name: the name is taken by " + s + ".Rules[0]"}},
		{"no filter type", rule(`"SqlFilter": {"SqlExpression": "1=1"}`), []string{r + ".FilterType: is required"}},
		{"unknown filter type", rule(`"FilterType": "Regex"`), []string{r + ".FilterType: there is no such type of filter"}},
		{"no SQL filter", rule(`"FilterType": "Sql"`), []string{r + ".SqlFilter: is required"}},
		{"no SQL expression", rule(`"FilterType": "Sql", "SqlFilter": {}`), []string{r + ".SqlFilter.SqlExpression: is required"}},
		{"bad SQL", rule(`"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a ="}`), []string{r + ".SqlFilter.SqlExpression: the filter does not parse"}},
		{"long SQL", rule(`"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a = '` + strings.Repeat("x", 1024) + `'"}`), []string{r + ".SqlFilter.SqlExpression: the filter has 1030 characters"}},
		{"bad action", rule(`"FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1"}, "Action": {"SqlExpression": "SET"}`), []string{r + ".Action.SqlExpression: the action does not parse"}},
		{"no correlation filter", rule(`"FilterType": "Correlation"`), []string{r + ".CorrelationFilter: is required"}},
		{"empty correlation filter", rule(`"FilterType": "Correlation", "CorrelationFilter": {}`), []string{r + ".CorrelationFilter: a correlation filter without properties wants everything"}},
		{"bad property", rule(`"FilterType": "Correlation", "CorrelationFilter": {"Properties": {"p": []}}`), []string{r + ".CorrelationFilter.Properties.p: not the value of an application property"}},
		{"all in one go", namespace(`"Queues": [{"Name": "a b", "Properties": {"LockDuration": "PT1S", "MaxDeliveryCount": -1}}], "Topics": [{"Subscriptions": [{"Name": ""}]}]`), []string{
			q + ".Name: ", q + ".Properties.LockDuration: out of range", q + ".Properties.MaxDeliveryCount: out of range",
			"UserConfig.Namespaces[0].Topics[0].Name: is required", s + ".Name: ",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, faults := config.Parse("bus/Config.json", []byte(c.text))
			var got []string
			for _, f := range faults {
				got = append(got, f.Path+": "+f.Reason)
				if f.File != "bus/Config.json" || f.Line == 0 {
					t.Errorf("%v: has no place", f)
				}
				if f.Allowed == "" && f.Hint == "" && c.name != "no JSON" {
					t.Errorf("%v: does not say what to do", f)
				}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("faults:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	e, faults := config.Parse("Config.json", []byte(namespace(`"Queues": [{"Name": "q", "Properties": {"MaxDelivryCount": 3}}]`)))
	if len(faults) != 0 || len(e.Warnings) != 1 || e.Warnings[0].Path != "UserConfig.Namespaces[0].Queues[0].Properties.MaxDelivryCount" {
		t.Errorf("faults %v, warnings %v", faults, e.Warnings)
	}
}

// TestBeyondTheOfficialLimits: what the service allows is good.
func TestBeyondTheOfficialLimits(t *testing.T) {
	t.Parallel()
	var queues []string
	for i := range 60 {
		queues = append(queues, fmt.Sprintf(`{"name": "q%d", "properties": {"maxdeliverycount": 2000, "DEFAULTMESSAGETIMETOLIVE": "P14D", "DuplicateDetectionHistoryTimeWindow": "P7D",
			"AutoDeleteOnIdle": "P10675199DT2H48M5.4775807S", "Status": "senddisabled", "MaxSizeInMegabytes": 2048, "UserMetadata": "x", "EnablePartitioning": true}}`, i))
	}
	e := parse(t, namespace(`"Queues": [`+strings.Join(queues, ",")+`], "Topics": [{"Name": "t"}]`))
	if len(e.Queues) != 60 || e.Queues[59].MaxDeliveryCount != 2000 || e.Queues[59].DefaultMessageTimeToLive != 14*24*time.Hour ||
		e.Queues[59].AutoDeleteOnIdle != 0 || e.Queues[59].Status != servicebusapi.StatusSendDisabled {
		t.Errorf("last of %d queues: %+v", len(e.Queues), e.Queues[len(e.Queues)-1])
	}
}

func TestLookups(t *testing.T) {
	t.Parallel()
	e := parse(t, namespace(`"Queues": [{"Name": "Orders", "Properties": {"MaxDeliveryCount": 3, "LockDuration": "PT5S", "RequiresSession": true}}, {"Name": "plain"}],
		"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Properties": {"MaxDeliveryCount": 1}}]}]`))
	for path, want := range map[string]string{
		"orders": "3 5s true", "plain": "10 1m0s false", "T/subscriptions/S": "1 1m0s false", "orders/$DeadLetterQueue": "3 5s true", "missing": "none", "t": "none",
	} {
		p, err := servicebusapi.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		n, ok := e.MaxDeliveryCount(p)
		d, _ := e.LockDuration(p)
		session, _ := e.RequiresSession(p)
		got := "none"
		if ok {
			got = fmt.Sprint(n, d, session)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if _, ok := (*config.Entities)(nil).MaxDeliveryCount(servicebusapi.Path{Entity: "x"}); ok {
		t.Error("no file has a queue")
	}
}

// bus is a namespace on a virtual clock that counts changes.
type bus struct {
	*testing.T
	clk     *clock.Virtual
	ns      *servicebus.Namespace
	changes []string
}

func newBus(t *testing.T) *bus {
	b := &bus{T: t, clk: clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})}
	b.ns = servicebus.New(b.clk, &servicebus.Options{Fault: func(p servicebus.FaultPoint) error {
		if !p.After && !strings.HasPrefix(p.Op, "Get") && !strings.HasPrefix(p.Op, "List") {
			b.changes = append(b.changes, p.Op+" "+p.Entity)
		}
		return nil
	}})
	return b
}

func (b *bus) do(f func(ctx context.Context)) {
	b.clk.Do("test", func() { f(context.Background()) })
}

func (b *bus) apply(text string) []string {
	b.Helper()
	e := parse(b.T, text)
	var out []string
	b.changes = nil
	b.do(func(ctx context.Context) {
		faults, err := e.Apply(ctx, b.ns)
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range faults {
			out = append(out, f.Path+": "+f.Reason)
		}
	})
	return out
}

// TestApply: entities are made once, settings follow the file, and applying again
// changes nothing.
func TestApply(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "Config.json"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBus(t)
	if faults := b.apply(string(text)); faults != nil {
		t.Fatal(faults)
	}
	if len(b.changes) == 0 {
		t.Fatal("nothing was made")
	}
	b.do(func(ctx context.Context) {
		q, err := b.ns.GetQueue(ctx, "orders")
		if err != nil || q.MaxDeliveryCount != 3 || q.ForwardDeadLetteredMessagesTo != "audit" || !q.RequiresDuplicateDetection {
			t.Errorf("orders: %+v, %v", q, err)
		}
		rules, err := b.ns.ListRules(ctx, "events", "all")
		if err != nil || len(rules) != 2 || rules[0].Name != "correlated" || rules[1].Name != "sql" {
			t.Errorf("rules of all: %v, %v", rules, err)
		}
		rules, err = b.ns.ListRules(ctx, "events", "rest")
		if err != nil || len(rules) != 1 || rules[0].Name != "$Default" {
			t.Errorf("rules of rest: %v, %v", rules, err)
		}
	})
	if faults := b.apply(string(text)); faults != nil || len(b.changes) != 0 {
		t.Errorf("again: faults %v, changes %v", faults, b.changes)
	}
	changed := strings.Replace(string(text), `"MaxDeliveryCount": 3`, `"MaxDeliveryCount": 5`, 1)
	if faults := b.apply(changed); faults != nil || !slices.Equal(b.changes, []string{"UpdateQueue orders"}) {
		t.Errorf("one setting: faults %v, changes %v", faults, b.changes)
	}
	b.do(func(ctx context.Context) {
		if _, err := b.ns.CreateRule(ctx, "events", "all", servicebusapi.Rule{Name: "other"}); err != nil {
			t.Fatal(err)
		}
	})
	renamed := strings.Replace(changed, "user.prop1 = 'v'", "user.prop1 = 'w'", 1)
	if faults := b.apply(renamed); faults != nil || !slices.Equal(b.changes, []string{"UpdateRule events/Subscriptions/all", "DeleteRule events/Subscriptions/all"}) {
		t.Errorf("rules: faults %v, changes %v", faults, b.changes)
	}
}

// TestApplyContradictions: what is decided at creation cannot be changed by the file,
// and then nothing is.
func TestApplyContradictions(t *testing.T) {
	t.Parallel()
	b := newBus(t)
	b.do(func(ctx context.Context) {
		_, err1 := b.ns.CreateQueue(ctx, servicebusapi.Queue{Name: "q"})
		_, err2 := b.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t"})
		_, err3 := b.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "s", RequiresSession: true}, nil)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
	})
	got := b.apply(namespace(`"Queues": [{"Name": "q", "Properties": {"RequiresSession": true, "RequiresDuplicateDetection": true}}, {"Name": "T2"}, {"Name": "T"}],
		"Topics": [{"Name": "Q2"}]`))
	const reason = "the entity exists and was created with another value, which cannot be changed"
	want := []string{
		"UserConfig.Namespaces[0].Queues[0].Properties.RequiresSession: " + reason,
		"UserConfig.Namespaces[0].Queues[0].Properties.RequiresDuplicateDetection: " + reason,
		"UserConfig.Namespaces[0].Queues[2].Name: the namespace has a topic of this name",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if len(b.changes) != 0 {
		t.Errorf("changes: %v", b.changes)
	}
	got = b.apply(namespace(`"Topics": [{"Name": "t", "Properties": {"RequiresDuplicateDetection": true}, "Subscriptions": [{"Name": "S"}]}, {"Name": "q"}]`))
	want = []string{
		"UserConfig.Namespaces[0].Topics[0].Properties.RequiresDuplicateDetection: " + reason,
		"UserConfig.Namespaces[0].Topics[0].Subscriptions[0].Properties.RequiresSession: " + reason,
		"UserConfig.Namespaces[0].Topics[1].Name: the namespace has a queue of this name",
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// TestApplyForwards: entities may forward to each other in any order.
func TestApplyForwards(t *testing.T) {
	t.Parallel()
	b := newBus(t)
	text := namespace(`"Queues": [{"Name": "a", "Properties": {"ForwardTo": "B"}}, {"Name": "b", "Properties": {"ForwardTo": "t", "ForwardDeadLetteredMessagesTo": "A"}}],
		"Topics": [{"Name": "T", "Subscriptions": [{"Name": "s", "Properties": {"ForwardTo": "a"}}]}]`)
	if faults := b.apply(text); faults != nil {
		t.Fatal(faults)
	}
	b.do(func(ctx context.Context) {
		q, err := b.ns.GetQueue(ctx, "b")
		if err != nil || q.ForwardTo != "T" || q.ForwardDeadLetteredMessagesTo != "a" {
			t.Errorf("b: %+v, %v", q, err)
		}
	})
	if b.apply(text); len(b.changes) != 0 {
		t.Errorf("again: %v", b.changes)
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "Config.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(namespace(`"Queues": [{"Name": "a", "Properties": {"ForwardTo": "B"}}], "Topics": null`))
	f.Fuzz(func(t *testing.T, text string) {
		e, faults := config.Parse("Config.json", []byte(text))
		if len(faults) > 0 {
			return
		}
		clk := clock.NewVirtual(start, nil)
		ns := servicebus.New(clk, nil)
		clk.Do("apply", func() {
			if faults, err := e.Apply(context.Background(), ns); err != nil || len(faults) > 0 {
				t.Errorf("a file without faults cannot be applied: %v %v", faults, err)
			}
		})
	})
}

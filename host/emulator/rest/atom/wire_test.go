package atom_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/atom"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// TestQueueEntry pins the document that clients of other languages parse: prefixes,
// namespaces and the order of the data contract.
func TestQueueEntry(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.create("Orders")
	got := d.want(200, "GET", "/orders?api-version=2017-04", "")
	want := `<entry xmlns="http://www.w3.org/2005/Atom">` +
		`<id>https://sbemulatorns.servicebus.windows.net/Orders?api-version=2017-04</id>` +
		`<title type="text">Orders</title><published>2024-01-02T03:04:05Z</published><updated>2024-01-02T03:04:05Z</updated>` +
		`<author><name>sbemulatorns</name></author>` +
		`<link rel="self" href="https://sbemulatorns.servicebus.windows.net/Orders?api-version=2017-04" />` +
		`<content type="application/xml"><QueueDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">` +
		`<LockDuration>PT1M</LockDuration><MaxSizeInMegabytes>1024</MaxSizeInMegabytes><RequiresDuplicateDetection>false</RequiresDuplicateDetection>` +
		`<RequiresSession>false</RequiresSession><DefaultMessageTimeToLive>P10675199DT2H48M5.4775807S</DefaultMessageTimeToLive>` +
		`<DeadLetteringOnMessageExpiration>false</DeadLetteringOnMessageExpiration><DuplicateDetectionHistoryTimeWindow>PT10M</DuplicateDetectionHistoryTimeWindow>` +
		`<MaxDeliveryCount>10</MaxDeliveryCount><EnableBatchedOperations>true</EnableBatchedOperations><SizeInBytes>0</SizeInBytes><MessageCount>0</MessageCount>` +
		`<IsAnonymousAccessible>false</IsAnonymousAccessible><AuthorizationRules /><Status>Active</Status>` +
		`<CreatedAt>2024-01-02T03:04:05Z</CreatedAt><UpdatedAt>2024-01-02T03:04:05Z</UpdatedAt><AccessedAt>0001-01-01T00:00:00</AccessedAt>` +
		`<SupportOrdering>false</SupportOrdering><CountDetails xmlns:d2p1="http://schemas.microsoft.com/netservices/2011/06/servicebus">` +
		`<d2p1:ActiveMessageCount>0</d2p1:ActiveMessageCount><d2p1:DeadLetterMessageCount>0</d2p1:DeadLetterMessageCount>` +
		`<d2p1:ScheduledMessageCount>0</d2p1:ScheduledMessageCount><d2p1:TransferMessageCount>0</d2p1:TransferMessageCount>` +
		`<d2p1:TransferDeadLetterMessageCount>0</d2p1:TransferDeadLetterMessageCount></CountDetails>` +
		`<AutoDeleteOnIdle>P10675199DT2H48M5.4775807S</AutoDeleteOnIdle><EnablePartitioning>false</EnablePartitioning>` +
		`<EntityAvailabilityStatus>Available</EntityAvailabilityStatus><EnableExpress>false</EnableExpress>` +
		`<MaxMessageSizeInKilobytes>256</MaxMessageSizeInKilobytes></QueueDescription></content></entry>`
	if diff := cmp.Diff(strings.SplitAfter(want, ">"), strings.SplitAfter(got, ">")); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
}

// TestStatuses: the answer of each method, for existing and missing entities.
func TestStatuses(t *testing.T) {
	t.Parallel()
	const listed = "Publicly Listed Services"
	none := queueEntry("")
	subscription := entry("<SubscriptionDescription" + spaces + "/>")
	rule := entry("<RuleDescription" + spaces + "/>")
	for _, c := range []struct {
		name, method, target, body, match string
		status                            int
		says                              string
	}{
		{"create", "PUT", "/new", none, "", 201, "<title type=\"text\">new</title>"},
		{"create existing", "PUT", "/ORDERS", none, "", 409, "<Code>409</Code><Detail>SubCode=40900. "},
		{"update", "PUT", "/orders", none, "*", 200, "QueueDescription"},
		{"update missing", "PUT", "/missing", none, "*", 404, "<Code>404</Code><Detail>SubCode=40400. "},
		{"get", "GET", "/orders", "", "", 200, "QueueDescription"},
		{"get by another case", "GET", "/ORDERS", "", "", 200, "<title type=\"text\">orders</title>"},
		{"get missing", "GET", "/missing", "", "", 200, listed},
		{"get missing subscription", "GET", "/topic1/Subscriptions/missing", "", "", 200, listed},
		{"get missing rule", "GET", "/topic1/Subscriptions/all/Rules/missing", "", "", 404, "SubCode=40400"},
		{"get root", "GET", "/", "", "", 200, listed},
		{"delete", "DELETE", "/orders", "", "", 200, ""},
		{"delete missing", "DELETE", "/missing", "", "", 404, "SubCode=40400"},
		{"delete topic", "DELETE", "/topic1", "", "", 200, ""},
		{"delete rule", "DELETE", "/topic1/Subscriptions/all/Rules/$Default", "", "", 200, ""},
		{"update rule", "PUT", "/topic1/Subscriptions/all/Rules/$Default", rule, "*", 200, "RuleDescription"},
		{"update missing rule", "PUT", "/topic1/Subscriptions/all/Rules/missing", rule, "*", 404, "SubCode=40400"},
		{"update rule without a name", "PUT", "/topic1/Subscriptions/all/Rules/", rule, "*", 400, "names no rule"},
		{"create subscription", "PUT", "/topic1/subscriptions/new", subscription, "", 201, "/topic1/Subscriptions/new?"},
		{"create subscription of nothing", "PUT", "/missing/Subscriptions/new", subscription, "", 404, "SubCode=40400"},
		{"list subscriptions of nothing", "GET", "/missing/Subscriptions", "", "", 404, "SubCode=40400"},
		{"list rules", "GET", "/topic1/Subscriptions/all/Rules/", "", "", 200, "$Default"},
		{"list queues", "GET", "/$resources/QUEUES", "", "", 200, "<title type=\"text\">Queues</title>"},
		{"list something else", "GET", "/$Resources/eventhubs", "", "", 404, ""},
		{"dead-letter queue", "GET", "/orders/$DeadLetterQueue", "", "", 200, listed},
		{"create a dead-letter queue", "PUT", "/orders/$deadletterqueue", none, "", 400, "sub-queue"},
		{"delete a transfer dead-letter queue", "DELETE", "/orders/$Transfer/$DeadLetterQueue", "", "", 400, "sub-queue"},
		{"dead-letter queue of a subscription", "DELETE", "/topic1/Subscriptions/all/$DeadLetterQueue", "", "", 404, ""},
		{"create by a bad name", "PUT", "/a$b", none, "", 400, ""},
		{"post", "POST", "/orders/messages", none, "", 405, ""},
		{"put a list", "PUT", "/$Resources/queues", none, "", 405, ""},
		{"bad skip", "GET", "/$Resources/queues?$skip=-1", "", "", 400, "$skip"},
		{"bad top", "GET", "/$Resources/queues?$top=0", "", "", 400, "$top"},
		{"skip beyond the end", "GET", "/$Resources/queues?$skip=99", "", "", 200, "feed"},
		{"health", "GET", "/health", "", "", 200, `{"status":"healthy","message":"Service is healthy."}`},
		{"a queue named health", "PUT", "/health?api-version=2021-05", none, "", 201, "QueueDescription"},
		{"delete health", "DELETE", "/health", "", "", 405, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, nil)
			d.create("orders", "topic1", "topic1/Subscriptions/all")
			var headers []string
			if c.match != "" {
				headers = []string{"If-Match", c.match}
			}
			got := d.want(c.status, c.method, c.target, c.body, headers...)
			if !strings.Contains(got, c.says) {
				t.Errorf("%s %s: want %q in\n%s", c.method, c.target, c.says, got)
			}
		})
	}
}

// TestBadBodies: what is refused, and that nothing comes of it.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, says string }{
		{"empty", "", "not well-formed"},
		{"no XML", "{}", "not well-formed"},
		{"cut", queueEntry("<LockDuration>PT1M")[:150], "not well-formed"},
		{"two documents", queueEntry("") + "<entry/>", "not well-formed"},
		{"document type", `<!DOCTYPE x [<!ENTITY e "x">]>` + queueEntry(""), "document type"},
		{"deep", strings.Repeat("<a>", 40), "nested"},
		{"no entry", "<feed/>", "want an ATOM entry"},
		{"no content", "<entry/>", "content"},
		{"two descriptions", entry("<QueueDescription/><QueueDescription/>"), "content"},
		{"something else", entry("<EventHubDescription/>"), "EventHubDescription"},
		{"lock too long", queueEntry("<LockDuration>PT5M1S</LockDuration>"), "lock duration"},
		{"lock of zero", queueEntry("<LockDuration>PT0S</LockDuration>"), "LockDuration"},
		{"lock that is none", queueEntry("<LockDuration>00:01:00</LockDuration>"), "LockDuration"},
		{"lock that is empty", queueEntry("<LockDuration></LockDuration>"), "LockDuration"},
		{"count of zero", queueEntry("<MaxDeliveryCount>0</MaxDeliveryCount>"), "MaxDeliveryCount"},
		{"count that is none", queueEntry("<MaxDeliveryCount>many</MaxDeliveryCount>"), "MaxDeliveryCount"},
		{"flag", queueEntry("<RequiresSession>yes</RequiresSession>"), "RequiresSession"},
		{"status", queueEntry("<Status>Asleep</Status>"), "Asleep"},
		{"window", queueEntry("<DuplicateDetectionHistoryTimeWindow>P8D</DuplicateDetectionHistoryTimeWindow>"), "window"},
		{"idle", queueEntry("<AutoDeleteOnIdle>PT1M</AutoDeleteOnIdle>"), "auto-delete"},
		{"longer than the maximum", queueEntry("<DefaultMessageTimeToLive>P10675199DT2H48M5.477581S</DefaultMessageTimeToLive>"), "DefaultMessageTimeToLive"},
		{"user metadata", queueEntry("<UserMetadata>" + strings.Repeat("x", 1025) + "</UserMetadata>"), "user metadata"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, nil)
			got := d.want(400, "PUT", "/orders", c.body)
			var e struct {
				XMLName xml.Name `xml:"Error"`
				Code    int
				Detail  string
			}
			if err := xml.Unmarshal([]byte(got), &e); err != nil || e.Code != 400 || !strings.HasPrefix(e.Detail, "SubCode=40000. ") {
				t.Errorf("%v: %s", err, got)
			}
			if !strings.Contains(strings.ToLower(e.Detail), strings.ToLower(c.says)) {
				t.Errorf("want %q in %s", c.says, got)
			}
			if got := d.want(200, "GET", "/orders", ""); !strings.Contains(got, "Publicly Listed") {
				t.Errorf("the queue exists: %s", got)
			}
		})
	}
	d := newServer(t, nil)
	d.want(400, "PUT", "/orders", queueEntry("<ForwardTo>missing</ForwardTo>"))
	d.want(413, "PUT", "/orders", queueEntry("<UserMetadata>"+strings.Repeat("x", 1<<20)+"</UserMetadata>"))
}

// TestUpdateKeepsFixedSettings: an update that does not mention sessions and duplicate
// detection leaves them, and everything else gets its default.
func TestUpdateKeepsFixedSettings(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.want(201, "PUT", "/orders", queueEntry("<RequiresSession>true</RequiresSession><RequiresDuplicateDetection>true</RequiresDuplicateDetection><LockDuration>PT2M</LockDuration>"))
	got := d.want(200, "PUT", "/orders", queueEntry(""), "If-Match", "*")
	for _, want := range []string{"<RequiresSession>true<", "<RequiresDuplicateDetection>true<", "<LockDuration>PT1M<"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s in %s", want, got)
		}
	}
	for change, want := range map[string]string{
		"<RequiresSession>false</RequiresSession>":                       "The value for the RequiresSession property of an existing Queue cannot be changed. ",
		"<RequiresDuplicateDetection>false</RequiresDuplicateDetection>": "The value for the RequiresDuplicateDetection property of an existing Queue cannot be changed. ",
		"<EnablePartitioning>true</EnablePartitioning>":                  "Partitioning cannot be changed for Queue. ",
	} {
		if got := d.want(400, "PUT", "/orders", queueEntry(change), "If-Match", "*"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", change, got)
		}
	}
}

// TestRuleDocuments: filters as other clients write them, and what they read back.
func TestRuleDocuments(t *testing.T) {
	t.Parallel()
	const (
		instance = `xmlns:p4="http://www.w3.org/2001/XMLSchema-instance"`
		schema   = `xmlns:l28="http://www.w3.org/2001/XMLSchema"`
	)
	value := func(kind, text string) string {
		return `<KeyValueOfstringanyType><Key>@k</Key><Value p4:type="l28:` + kind + `" ` + schema + `>` + text + `</Value></KeyValueOfstringanyType>`
	}
	echo := func(kind, space, text string) string {
		return `<KeyValueOfstringanyType><Key>@k</Key><Value i:type="d6p1:` + kind + `" xmlns:d6p1="` + space + `">` + text + `</Value></KeyValueOfstringanyType>`
	}
	sql := func(parameters string) string {
		return `<Filter p4:type="SqlFilter" ` + instance + `><SqlExpression>a = @k</SqlExpression><Parameters>` + parameters + `</Parameters></Filter>` +
			`<Action p4:type="EmptyRuleAction" ` + instance + `/><Name>r</Name>`
	}
	const w3, serial = "http://www.w3.org/2001/XMLSchema", "http://schemas.microsoft.com/2003/10/Serialization/"
	for _, c := range []struct {
		name, body string
		says       string // empty: refused
	}{
		{"as JavaScript writes no filter", `<Filter p4:type="SqlFilter" ` + instance + `><SqlExpression>1=1</SqlExpression></Filter><Action p4:type="EmptyRuleAction" ` + instance + `/><Name>r</Name>`,
			`<Filter i:type="SqlFilter"><SqlExpression>1=1</SqlExpression><CompatibilityLevel>20</CompatibilityLevel><Parameters /></Filter><Action i:type="EmptyRuleAction" />`},
		{"string", sql(value("string", " a&lt; ")), echo("string", w3, " a&lt; ")},
		{"int", sql(value("int", "-7")), echo("int", w3, "-7")},
		{"int too large", sql(value("int", "2147483648")), ""},
		{"long", sql(value("long", "2147483648")), echo("long", w3, "2147483648")},
		{"double", sql(value("double", "1.50")), echo("double", w3, "1.5")},
		{"double without end", sql(value("double", "-INF")), echo("double", w3, "-INF")},
		{"boolean", sql(value("boolean", "true")), echo("boolean", w3, "true")},
		{"dateTime", sql(value("dateTime", "2024-01-02T03:04:05+01:00")), echo("dateTime", w3, "2024-01-02T02:04:05Z")},
		{"dateTime without a zone", sql(value("dateTime", "2024-01-02T03:04:05.5")), echo("dateTime", w3, "2024-01-02T03:04:05.5Z")},
		{"duration", sql(value("duration", "PT60S")), echo("duration", serial, "PT1M")},
		{"unknown type", sql(value("colour", "red")), ""},
		{"no number", sql(value("int", "many")), ""},
		{"no value", sql(`<KeyValueOfstringanyType><Key>@k</Key></KeyValueOfstringanyType>`), ""},
		{"prefixes of Python", `<ns1:Filter xmlns:ns1="x" xsi:type="CorrelationFilter" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><ns1:CorrelationId>1</ns1:CorrelationId></ns1:Filter><ns1:Name>r</ns1:Name>`,
			`<Filter i:type="CorrelationFilter"><CorrelationId>1</CorrelationId><Properties /></Filter>`},
		{"absent by nil", `<Filter i:type="CorrelationFilter"><CorrelationId>1</CorrelationId><Label i:nil="true"/><To></To></Filter>`,
			`<CorrelationId>1</CorrelationId><To></To><Properties />`},
		{"no filter", "", `<Filter i:type="TrueFilter"><SqlExpression>1=1</SqlExpression>`},
		{"unknown filter", `<Filter i:type="DateFilter"/>`, ""},
		{"filter without a type", `<Filter><SqlExpression>1=1</SqlExpression></Filter>`, ""},
		{"SQL without an expression", `<Filter i:type="SqlFilter"/>`, ""},
		{"expression too long", `<Filter i:type="SqlFilter"><SqlExpression>a = '` + strings.Repeat("x", 1024) + `'</SqlExpression></Filter>`, ""},
		{"unknown action", `<Action i:type="MailAction"/>`, ""},
		{"action", `<Action i:type="SqlRuleAction"><SqlExpression>SET a = 1; REMOVE b</SqlExpression></Action>`,
			`<Action i:type="SqlRuleAction"><SqlExpression>SET a = 1; REMOVE b</SqlExpression><CompatibilityLevel>20</CompatibilityLevel><Parameters /></Action>`},
		{"action that does not parse", `<Action i:type="SqlRuleAction"><SqlExpression>SET</SqlExpression></Action>`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, nil)
			d.create("topic1", "topic1/Subscriptions/all")
			const target = "/topic1/Subscriptions/all/Rules/r"
			if c.says == "" {
				d.want(400, "PUT", target, ruleEntry(c.body))
				d.want(404, "GET", target, "")
				return
			}
			d.want(201, "PUT", target, ruleEntry(c.body))
			if got := d.want(200, "GET", target, ""); !strings.Contains(got, c.says) {
				t.Errorf("want %s in\n%s", c.says, got)
			}
		})
	}
}

// TestNextLink: the second of two links, as the Python client counts them, with what
// it and the JavaScript client read from it.
func TestNextLink(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.create("a", "b", "c")
	links := regexp.MustCompile(`<link rel="(\w+)" href="([^"]*)" />`)
	feed := d.want(200, "GET", "/$Resources/queues?$skip=0&$top=2&api-version=2021-05", "")
	head, _, _ := strings.Cut(feed, "<entry")
	found := links.FindAllStringSubmatch(head, -1)
	if len(found) != 2 || found[0][1] != "self" || found[1][1] != "next" {
		t.Fatalf("links: %q", found)
	}
	next, err := url.Parse(strings.ReplaceAll(found[1][2], "&amp;", "&"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(url.Values{"$skip": {"2"}, "$top": {"2"}, "api-version": {"2021-05"}}, next.Query()); diff != "" {
		t.Errorf("next (-want +got):\n%s", diff)
	}
	feed = d.want(200, "GET", next.RequestURI(), "")
	head, rest, _ := strings.Cut(feed, "<entry")
	if found := links.FindAllStringSubmatch(head, -1); len(found) != 1 {
		t.Errorf("links of the last page: %q", found)
	}
	if !strings.Contains(rest, `<title type="text">c</title>`) {
		t.Errorf("last page: %s", rest)
	}
}

// sign makes a token as the clients do.
func sign(key, policy, resource string, expiry time.Time) string {
	sr, se := url.QueryEscape(resource), fmt.Sprint(expiry.Unix())
	mac := hmac.New(sha256.New, []byte(key))
	io.WriteString(mac, sr+"\n"+se)
	return "SharedAccessSignature sr=" + sr + "&sig=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil))) + "&se=" + se + "&skn=" + policy
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	later := start.Add(time.Hour)
	for _, c := range []struct {
		name, token string
		status      int
	}{
		{"none", "", 401},
		{"good", sign("k", "Root", "https://host/orders", later), 200},
		{"for the namespace", sign("k", "Root", "sb://host/", later), 200},
		{"in another case", sign("k", "Root", "https://host/ORDERS", later), 200},
		{"for another queue", sign("k", "Root", "https://host/order", later), 401},
		{"other key", sign("x", "Root", "https://host/orders", later), 401},
		{"other policy", sign("k", "Other", "https://host/orders", later), 401},
		{"expired", sign("k", "Root", "https://host/orders", start.Add(-time.Second)), 401},
		{"nonsense", "SharedAccessSignature nonsense", 401},
		{"another scheme", "Basic eDp5", 401},
		{"bearer over TLS", "Bearer x", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, &atom.Options{Keys: map[string]string{"Root": "k"}, StrictDates: true})
			var headers []string
			if c.token != "" {
				headers = []string{"Authorization", c.token}
			}
			got := d.want(c.status, "GET", "/orders", "", headers...)
			if c.status == 401 && !strings.Contains(got, "<Code>401</Code>") {
				t.Errorf("body: %s", got)
			}
		})
	}
	d := newServer(t, &atom.Options{Keys: map[string]string{"Root": "k"}})
	d.want(200, "GET", "/orders", "", "Authorization", sign("k", "Root", "https://host/orders", time.Unix(0, 0)))
	d.want(200, "GET", "/health", "") // nobody has to prove anything for it
	newServer(t, nil).want(200, "GET", "/orders", "", "Authorization", "anything")

	r := httptest.NewRequest("GET", "http://localhost:5300/orders", nil)
	r.Header.Set("Authorization", "Bearer x")
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, r)
	if w.Code != 401 {
		t.Errorf("bearer without TLS: %d, want 401", w.Code)
	}
}

func TestUnhealthy(t *testing.T) {
	t.Parallel()
	d := newServer(t, &atom.Options{Health: func() error { return errors.New("disk full") }})
	if got := d.want(503, "GET", "/health", ""); got != `{"status":"unhealthy","message":"Service is unhealthy."}` {
		t.Errorf("health: %s", got)
	}
}

// TestFaults: failures of the namespace reach the client as the service words them.
func TestFaults(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	for err, status := range map[error]int{
		messaging.NewError(messaging.ConditionServerBusy, "busy"):                503,
		messaging.NewError(messaging.ConditionResourceLimitExceeded, "too many"): 403,
		fmt.Errorf("queue: %w", bindings.ErrUnavailable):                         503,
		errors.New("boom"): 500,
	} {
		ns := servicebus.New(d.clk, &servicebus.Options{Fault: func(servicebus.FaultPoint) error { return err }})
		w := httptest.NewRecorder()
		atom.New(d.clk, ns, nil).ServeHTTP(w, httptest.NewRequest("GET", "/orders", nil))
		if w.Code != status || !strings.Contains(w.Body.String(), fmt.Sprintf("<Code>%d</Code>", status)) {
			t.Errorf("%v: %d %s, want %d", err, w.Code, w.Body, status)
		}
	}
	ns := servicebus.New(d.clk, &servicebus.Options{Fault: func(servicebus.FaultPoint) error { return rest.ErrCut }})
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("a cut connection: %v", v)
		}
	}()
	atom.New(d.clk, ns, nil).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/orders", nil))
}

// TestForwardTo: addresses come in as names or absolute. Absolute ones go out as they were
// given, names as the client addressed the server (azservicebus: admin/admin_client_test.go,
// TestAdminClient_Forwarding), also after an update that says nothing new.
func TestForwardTo(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.create("target")
	d.want(201, "PUT", "/t", entry("<TopicDescription/>"))
	for i, in := range []string{"target", "/Target", "sb://localhost/target", "https://other.example:5300/TARGET/"} {
		r := httptest.NewRequest("PUT", fmt.Sprintf("http://localhost:5300/q%d", i), strings.NewReader(queueEntry("<ForwardTo>"+in+"</ForwardTo>")))
		w := httptest.NewRecorder()
		d.h.ServeHTTP(w, r)
		want := "<ForwardTo>sb://localhost:5300/target</ForwardTo>"
		if strings.Contains(in, "://") {
			want = "<ForwardTo>" + in + "</ForwardTo>"
		}
		if w.Code != 201 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q: %d, want %s in %s", in, w.Code, want, w.Body)
		}
	}
	for path, body := range map[string]string{
		"/new":               queueEntry("<ForwardTo>missing</ForwardTo>"),
		"/other":             queueEntry("<ForwardDeadLetteredMessagesTo>missing</ForwardDeadLetteredMessagesTo>"),
		"/t/Subscriptions/s": entry("<SubscriptionDescription><ForwardTo>missing</ForwardTo></SubscriptionDescription>"),
	} {
		if got := d.want(400, "PUT", path, body); !strings.Contains(got, "SubCode=40400. The auto forwarding destination entity does not exist") {
			t.Errorf("%s: %s", path, got)
		}
	}
	d.do(func(ctx context.Context) {
		q, err := d.ns.GetQueue(ctx, "q3")
		if err != nil || q.ForwardTo != "target" {
			t.Errorf("stored: %v, %v", q, err)
		}
	})
}

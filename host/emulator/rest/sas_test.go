package rest_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// fields are the fields of a shared access signature.
type fields map[string]string

func (f fields) with(more ...string) fields {
	out := fields{}
	for k, v := range f {
		out[k] = v
	}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
		if more[i+1] == "-" {
			delete(out, more[i])
		}
	}
	return out
}

func (f fields) join(names ...string) string {
	var values []string
	for _, n := range names {
		values = append(values, f[n])
	}
	return strings.Join(values, "\n")
}

func (f fields) query(signature string) string {
	v := url.Values{"sig": {signature}}
	for k, x := range f {
		v.Set(k, x)
	}
	return v.Encode()
}

// account signs an account signature (docs: Create an account SAS).
func (f fields) account(t *testing.T, key string) string {
	text := rest.DevAccount + "\n" + f.join("sp", "ss", "srt", "st", "se", "sip", "spr", "sv") + "\n"
	if f["sv"] >= "2020-12-06" {
		text += f["ses"] + "\n"
	}
	return f.query(mac(t, key, text))
}

// forQueue signs a service signature (docs: Create a service SAS).
func (f fields) forQueue(t *testing.T, queue string) string {
	text := f.join("sp", "st", "se") + "\n/queue/" + rest.DevAccount + "/" + queue + "\n" + f.join("si", "sip", "spr", "sv")
	return f.query(mac(t, rest.DevKey, text))
}

// ask sends an unsigned request whose address ends in a signature.
func (b *bench) ask(method, path, body, sas string) answer {
	b.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	return b.send(b.request(method, path+sep+sas, body))
}

var fullAccount = fields{"sv": "2021-12-02", "ss": "bq", "srt": "sco", "sp": "rwdlacup", "se": "2030-01-02T04:00:00Z"}

func TestAccountSAS(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	for _, row := range []struct {
		name string
		sas  fields
		code string // "": accepted
	}{
		{"all there is", fullAccount, ""},
		{"old version, no encryption scope line", fullAccount.with("sv", "2018-11-09"), ""},
		{"encryption scope", fullAccount.with("ses", "scope"), ""},
		{"started", fullAccount.with("st", "2030-01-02"), ""},
		{"not started", fullAccount.with("st", "2030-01-02T03:30:00Z"), "AuthenticationFailed"},
		{"expired", fullAccount.with("se", "2030-01-02T03:00:00Z"), "AuthenticationFailed"},
		{"expires now", fullAccount.with("se", "2030-01-02T03:04:05Z"), "AuthenticationFailed"},
		{"expires to the minute", fullAccount.with("se", "2030-01-02T03:05Z"), ""},
		{"expires with parts of a second", fullAccount.with("se", "2030-01-02T03:04:05.0000001Z"), ""},
		{"expires elsewhere", fullAccount.with("se", "2030-01-02T05:04:00+02:00"), "AuthenticationFailed"},
		{"no expiry", fullAccount.with("se", "-"), "AuthenticationFailed"},
		{"expiry is no time", fullAccount.with("se", "soon"), "AuthenticationFailed"},
		{"no version", fullAccount.with("sv", "-"), "AuthenticationFailed"},
		{"both protocols", fullAccount.with("spr", "https,http"), ""},
		{"https only", fullAccount.with("spr", "https"), "AuthorizationProtocolMismatch"},
		{"this address", fullAccount.with("sip", "127.0.0.1"), ""},
		{"these addresses", fullAccount.with("sip", "127.0.0.0-127.0.0.9"), ""},
		{"other address", fullAccount.with("sip", "10.0.0.1"), "AuthorizationSourceIPMismatch"},
		{"other addresses", fullAccount.with("sip", "127.0.0.2-127.0.0.9"), "AuthorizationSourceIPMismatch"},
		{"no address", fullAccount.with("sip", "here"), "AuthorizationSourceIPMismatch"},
		{"other service", fullAccount.with("ss", "b"), "AuthorizationServiceMismatch"},
		{"other resource type", fullAccount.with("srt", "so"), "AuthorizationResourceTypeMismatch"},
		{"other permission", fullAccount.with("sp", "wdlacup"), "AuthorizationPermissionMismatch"},
		{"no permission", fullAccount.with("sp", "-"), "AuthorizationPermissionMismatch"},
	} {
		a := b.ask("GET", "/orders?comp=metadata", "", row.sas.account(t, rest.DevKey))
		if row.code == "" && a.Status != 200 || row.code != "" && (a.Status != 403 || a.Code != row.code) {
			t.Errorf("%s: %d %s, want %q\n%s", row.name, a.Status, a.Code, row.code, a.Body)
		}
	}
	if a := b.ask("GET", "/orders?comp=metadata", "", fullAccount.account(t, secondKey)); a.Status != 200 {
		t.Errorf("signed with the second key: %d", a.Status)
	}
	if a := b.ask("GET", "/orders?comp=metadata", "", strings.Replace(fullAccount.account(t, rest.DevKey), "sp=rwdlacup", "sp=rwdlacu", 1)); a.Code != "AuthenticationFailed" {
		t.Errorf("changed: %d %s", a.Status, a.Code)
	}
}

func TestAccountSASExpiresByTheClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sas := fullAccount.account(t, rest.DevKey)
	if a := b.ask("GET", "/?comp=list", "", sas); a.Status != 200 {
		t.Fatalf("%d\n%s", a.Status, a.Body)
	}
	b.clk.Advance(time.Hour)
	if a := b.ask("GET", "/?comp=list", "", sas); a.Status != 403 || a.Code != "AuthenticationFailed" {
		t.Errorf("an hour later: %d %s", a.Status, a.Code)
	}
}

// operations are all operations of the Queue service, with what allows each: the
// resource type and the permission of an account signature, and the permission
// of a service signature. Empty: nothing does.
var operations = []struct {
	name, method, path, body   string
	resource, account, ofQueue string
}{
	{"list", "GET", "/?comp=list", "", "s", "l", ""},
	{"get properties", "GET", "/?restype=service&comp=properties", "", "s", "r", ""},
	{"set properties", "PUT", "/?restype=service&comp=properties", "<StorageServiceProperties/>", "s", "w", ""},
	{"create", "PUT", "/orders", "", "c", "cw", ""},
	{"get metadata", "GET", "/orders?comp=metadata", "", "c", "r", "r"},
	{"head metadata", "HEAD", "/orders?comp=metadata", "", "c", "r", "r"},
	{"set metadata", "PUT", "/orders?comp=metadata", "", "c", "w", ""},
	{"get acl", "GET", "/orders?comp=acl", "", "c", "", ""},
	{"set acl", "PUT", "/orders?comp=acl", "", "c", "", ""},
	{"put", "POST", "/orders/messages", message("a"), "o", "a", "a"},
	{"get", "GET", "/orders/messages", "", "o", "p", "p"},
	{"peek", "GET", "/orders/messages?peekonly=true", "", "o", "r", "r"},
	{"update", "PUT", "/orders/messages/id?popreceipt=x&visibilitytimeout=0", "", "oc", "u", "u"},
	{"delete message", "DELETE", "/orders/messages/id?popreceipt=x", "", "oc", "p", "p"},
	{"clear", "DELETE", "/orders/messages", "", "oc", "d", ""},
	{"delete", "DELETE", "/orders", "", "c", "d", ""},
}

// Each operation is allowed by exactly the letters of the table.
func TestPermissionsOfEachOperation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, op := range operations {
		for _, letter := range strings.Split("rwdlacup", "") {
			b.call("PUT", "/orders", "")
			a := b.ask(op.method, op.path, op.body, fullAccount.with("sp", letter).account(t, rest.DevKey))
			if allowed := a.Status != 403; allowed != strings.Contains(op.account, letter) {
				t.Errorf("%s with account permission %s: %d %s, want one of %q", op.name, letter, a.Status, a.Code, op.account)
			}
			if strings.HasPrefix(op.path, "/?") {
				continue
			}
			b.call("PUT", "/orders", "")
			a = b.ask(op.method, op.path, op.body, fields{"sv": "2021-12-02", "sp": letter, "se": "2031-01-01"}.forQueue(t, "orders"))
			if allowed := a.Status != 403; allowed != strings.Contains(op.ofQueue, letter) {
				t.Errorf("%s with queue permission %s: %d %s, want one of %q", op.name, letter, a.Status, a.Code, op.ofQueue)
			}
			if a.Status == 403 && a.Code != "AuthorizationPermissionMismatch" {
				t.Errorf("%s with queue permission %s: %s", op.name, letter, a.Code)
			}
		}
		for _, resource := range []string{"s", "c", "o"} {
			b.call("PUT", "/orders", "")
			a := b.ask(op.method, op.path, op.body, fullAccount.with("srt", resource).account(t, rest.DevKey))
			if op.account == "" {
				continue
			}
			if allowed := a.Status != 403; allowed != strings.Contains(op.resource, resource) {
				t.Errorf("%s with resource type %s: %d %s, want one of %q", op.name, resource, a.Status, a.Code, op.resource)
			}
		}
	}
}

func TestQueueSAS(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	b.create("others")
	full := fields{"sv": "2021-12-02", "sp": "raup", "se": "2030-01-02T04:00:00Z"}
	for _, row := range []struct {
		name  string
		sas   fields
		queue string
		code  string
	}{
		{"all there is", full, "orders", ""},
		{"for another queue", full, "others", "AuthenticationFailed"},
		{"not started", full.with("st", "2030-01-03"), "orders", "AuthenticationFailed"},
		{"expired", full.with("se", "2030-01-01"), "orders", "AuthenticationFailed"},
		{"no expiry", full.with("se", "-"), "orders", "AuthenticationFailed"},
		{"no permission", full.with("sp", "-"), "orders", "AuthorizationPermissionMismatch"},
		{"https only", full.with("spr", "https"), "orders", "AuthorizationProtocolMismatch"},
		{"other address", full.with("sip", "10.0.0.1-10.0.0.9"), "orders", "AuthorizationSourceIPMismatch"},
		{"unknown policy", full.with("si", "none"), "orders", "AuthenticationFailed"},
	} {
		a := b.ask("GET", "/orders/messages", "", row.sas.forQueue(t, row.queue))
		if row.code == "" && a.Status != 200 || row.code != "" && (a.Status != 403 || a.Code != row.code) {
			t.Errorf("%s: %d %s, want %q", row.name, a.Status, a.Code, row.code)
		}
	}
	if a := b.ask("GET", "/?comp=list", "", full.forQueue(t, "orders")); a.Status != 403 {
		t.Errorf("list with a queue's signature: %d", a.Status)
	}
}

func policies(ps ...string) string {
	return "<?xml version=\"1.0\"?><SignedIdentifiers>" + strings.Join(ps, "") + "</SignedIdentifiers>"
}

func policy(id, start, expiry, permission string) string {
	p := "<SignedIdentifier><Id>" + id + "</Id><AccessPolicy>"
	for name, v := range map[string]string{"Start": start, "Expiry": expiry, "Permission": permission} {
		if v != "" {
			p += "<" + name + ">" + v + "</" + name + ">"
		}
	}
	return p + "</AccessPolicy></SignedIdentifier>"
}

func TestStoredAccessPolicies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	b.want(204, "", "PUT", "/orders?comp=acl", policies(
		policy("all", "2030-01-01", "2030-01-02T04:00:00.0000000Z", "raup"), policy("times", "", "2030-01-02T04:00Z", ""), policy("reader", "", "", "r")))
	got := b.want(200, "", "GET", "/orders?comp=acl", "").Body
	want := `<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers>` +
		`<SignedIdentifier><Id>all</Id><AccessPolicy><Start>2030-01-01T00:00:00.0000000Z</Start><Expiry>2030-01-02T04:00:00.0000000Z</Expiry><Permission>raup</Permission></AccessPolicy></SignedIdentifier>` +
		`<SignedIdentifier><Id>times</Id><AccessPolicy><Expiry>2030-01-02T04:00:00.0000000Z</Expiry></AccessPolicy></SignedIdentifier>` +
		`<SignedIdentifier><Id>reader</Id><AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`
	if got != want {
		t.Errorf("policies:\n%s\nwant\n%s", got, want)
	}
	sas := fields{"sv": "2021-12-02"}
	for _, row := range []struct {
		name string
		sas  fields
		code string
	}{
		{"all by the policy", sas.with("si", "all"), ""},
		{"times by the policy", sas.with("si", "times", "sp", "p"), ""},
		{"permission by the policy", sas.with("si", "reader", "se", "2031-01-01"), "AuthorizationPermissionMismatch"},
		{"permission by both", sas.with("si", "all", "sp", "p"), "AuthenticationFailed"},
		{"expiry by both", sas.with("si", "all", "se", "2031-01-01"), "AuthenticationFailed"},
		{"expiry by neither", sas.with("si", "reader"), "AuthenticationFailed"},
		{"unknown", sas.with("si", "nobody"), "AuthenticationFailed"},
	} {
		a := b.ask("GET", "/orders/messages", "", row.sas.forQueue(t, "orders"))
		if row.code == "" && a.Status != 200 || row.code != "" && (a.Status != 403 || a.Code != row.code) {
			t.Errorf("%s: %d %s, want %q", row.name, a.Status, a.Code, row.code)
		}
	}
	b.clk.Advance(time.Hour)
	if a := b.ask("GET", "/orders/messages", "", sas.with("si", "all").forQueue(t, "orders")); a.Status != 403 {
		t.Errorf("after the policy's expiry: %d", a.Status)
	}
	b.want(204, "", "PUT", "/orders?comp=acl", "")
	if a := b.ask("GET", "/orders/messages", "", sas.with("si", "times", "sp", "p").forQueue(t, "orders")); a.Status != 403 {
		t.Errorf("after the policy was removed: %d", a.Status)
	}
	if a := b.ask("GET", "/nothing/messages", "", sas.with("si", "times", "sp", "p").forQueue(t, "nothing")); a.Status != 403 {
		t.Errorf("policy of a queue that does not exist: %d", a.Status)
	}
}

func TestPoliciesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	var five []string
	for i := range 5 {
		five = append(five, policy(fmt.Sprint("p", i), "", "2031-01-01", "r"))
	}
	b.want(204, "", "PUT", "/orders?comp=acl", policies(five...))
	for name, body := range map[string]string{
		"six":                policies(append(five, policy("p6", "", "", "r"))...),
		"unknown permission": policies(policy("a", "", "", "rw")),
		"no id":              policies(policy("", "", "", "r")),
		"same id":            policies(five[0], five[0]),
		"long id":            policies(policy(strings.Repeat("x", 65), "", "", "r")),
		"no time":            policies(policy("a", "soon", "", "r")),
		"no XML":             "policies",
		"other document":     "<Identifiers/>",
	} {
		if a := b.call("PUT", "/orders?comp=acl", body); a.Status != 400 || a.Code != "InvalidXmlDocument" {
			t.Errorf("%s: %d %s, want 400 InvalidXmlDocument", name, a.Status, a.Code)
		}
	}
	if a := b.want(200, "", "GET", "/orders?comp=acl", ""); strings.Count(a.Body, "<Id>") != 5 {
		t.Errorf("refused policies changed something: %s", a.Body)
	}
}

// A signature that begins now is good now, though nothing was due since the last request.
func TestSignatureBeginsNow(t *testing.T) {
	b := newBench(t)
	b.clk.Real()
	defer b.clk.Close()
	_, from := b.clk.Elapsed()
	b.ask("GET", "/?comp=list", "", fullAccount.account(t, rest.DevKey)) // the connection is there, and nothing is due
	_, to := b.clk.Elapsed()
	now := start.Add(to - from).Format(time.RFC3339Nano)
	if a := b.ask("GET", "/?comp=list", "", fullAccount.with("st", now).account(t, rest.DevKey)); a.Status != 200 {
		t.Errorf("a signature of this moment: %d %s %s", a.Status, a.Code, a.Body)
	}
}

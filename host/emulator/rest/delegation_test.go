package rest_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// withTLS makes the servers of a bench speak HTTPS, with the certificate of a test.
func withTLS(t *testing.T) func(*setup) {
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	certificate.Close()
	return func(s *setup) { s.rest.TLS = certificate.TLS }
}

func newTLSBlobBench(t *testing.T, edit ...func(*setup)) *bench {
	b := newBench(t, append(edit, withTLS(t))...)
	b.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the certificate is a test's
	b.endpoint = b.server.BlobURL() + "/" + rest.DevAccount
	b.want(201, "", "PUT", "/box?restype=container", "")
	return b
}

func token(claims string) string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"none"}`) + "." + part(claims) + "." + part("signature")
}

// byToken sends a request with a bearer token.
func (b *bench) byToken(method, path, body, token string) answer {
	b.Helper()
	r := b.request(method, path, body)
	r.Header.Set("Authorization", "Bearer "+token)
	return b.send(r)
}

// A token is believed, unless its own claims say otherwise.
//
// Source: Azurite, tests/blob/oauth.test.ts.
func TestBearerTokenSaysWhomItIsFor(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		b := newTLSBlobBench(t, func(s *setup) { s.rest.StrictDates = strict })
		now := b.clk.Now().Unix()
		issuer := `"iss":"https://sts.windows.net/x/"`
		for _, row := range []struct {
			token  string
			good   bool
			strict bool // only without StrictDates
		}{
			{"opaque", false, false},
			{"a.b.c", false, false},
			{token(`{"aud":"https://storage.azure.com",` + issuer + `}`), true, false},
			{token(`{"aud":"https://devstoreaccount1.blob.core.windows.net/",` + issuer + `}`), true, false},
			{token(`{"aud":"https://other.blob.core.windows.net",` + issuer + `}`), false, false},
			{token(`{"aud":"https://devstoreaccount1.queue.core.windows.net",` + issuer + `}`), false, false},
			{token(`{"aud":"https://management.azure.com",` + issuer + `}`), false, false},
			{token(`{"aud":"https://storage.azure.com","iss":"https://example.com/"}`), false, false},
			{token(fmt.Sprintf(`{"aud":"https://storage.azure.com","nbf":%d,"exp":%d}`, now-10, now+10)), true, false},
			{token(fmt.Sprintf(`{"aud":"https://storage.azure.com","nbf":%d,"exp":%d}`, now+10, now+20)), true, true},
			{token(fmt.Sprintf(`{"aud":"https://storage.azure.com","nbf":%d,"exp":%d}`, now-20, now-10)), true, true},
		} {
			a := b.byToken("GET", "/box?restype=container", "", row.token)
			if good := row.good && !(row.strict && strict); good && a.Status != 200 || !good && (a.Status != 403 || a.Code != "AuthenticationFailed") {
				t.Errorf("strict %v, %s: %d %s, want good %v", strict, row.token, a.Status, a.Code, good)
			}
		}
	}
}

// A user delegation key signs for blobs while it is good.
//
// Source: docs, Get User Delegation Key, Create a user delegation SAS.
func TestUserDelegation(t *testing.T) {
	t.Parallel()
	b := newTLSBlobBench(t)
	b.upload("/box/a", "text")
	const ask = "/?restype=service&comp=userdelegationkey"
	info := func(start, expiry string) string {
		return "<KeyInfo><Start>" + start + "</Start><Expiry>" + expiry + "</Expiry></KeyInfo>"
	}
	good := info("2030-01-02T03:00:00Z", "2030-01-02T05:00:00Z")
	user := token(`{"oid":"me","tid":"home"}`)
	b.want(403, "AuthenticationFailed", "POST", ask, good) // the account's key is nobody
	if a := b.ask("POST", ask, good, fullAccount.account(t, rest.DevKey)); a.Status != 403 || a.Code != "AuthenticationFailed" {
		t.Errorf("with a signature: %d %s", a.Status, a.Code)
	}
	for _, bad := range []string{info("", "2030-01-09T03:04:06Z"), info("2030-01-03T00:00:00Z", "2030-01-02T05:00:00Z"), info("x", "2030-01-02T05:00:00Z"), info("", "")} {
		if a := b.byToken("POST", ask, bad, user); a.Status != 400 || a.Code != "InvalidXmlNodeValue" {
			t.Errorf("%s: %d %s, want 400 InvalidXmlNodeValue", bad, a.Status, a.Code)
		}
	}
	a := b.byToken("POST", ask, good, user)
	var key struct {
		SignedOid, SignedTid, SignedStart, SignedExpiry, SignedService, SignedVersion, Value string
	}
	if err := xml.Unmarshal([]byte(a.Body), &key); err != nil || a.Status != 200 || key.SignedOid != "me" || key.SignedTid != "home" || key.SignedService != "b" {
		t.Fatalf("key = %d %s, %+v, %v", a.Status, a.Body, key, err)
	}
	sas := fields{
		"sv": "2021-12-02", "sr": "b", "sp": "r", "se": "2030-01-02T04:00:00Z",
		"skoid": key.SignedOid, "sktid": key.SignedTid, "skt": key.SignedStart, "ske": key.SignedExpiry, "sks": key.SignedService, "skv": key.SignedVersion,
	}
	signed := func(f fields, path string) string {
		text := f.join("sp", "st", "se") + "\n/blob/" + rest.DevAccount + path + "\n" + f.join(
			"skoid", "sktid", "skt", "ske", "sks", "skv", "saoid", "suoid", "scid", "sip", "spr", "sv", "sr") + "\n\n" + f.join("ses", "rscc", "rscd", "rsce", "rscl", "rsct")
		return f.query(mac(t, key.Value, text))
	}
	for _, row := range []struct {
		name, method, path, sas string
		code                    string
	}{
		{"blob", "GET", "/box/a", signed(sas, "/box/a"), ""},
		{"container", "GET", "/box/a", signed(sas.with("sr", "c"), "/box"), ""},
		{"list", "GET", "/box?restype=container&comp=list", signed(sas.with("sr", "c", "sp", "l"), "/box"), ""},
		{"other blob", "GET", "/box/b", signed(sas, "/box/a"), "AuthenticationFailed"},
		{"other permission", "DELETE", "/box/a", signed(sas, "/box/a"), "AuthorizationPermissionMismatch"},
		{"other user", "GET", "/box/a", signed(sas.with("skoid", "you"), "/box/a"), "AuthenticationFailed"},
		{"longer key", "GET", "/box/a", signed(sas.with("ske", "2030-01-03T05:00:00Z"), "/box/a"), "AuthenticationFailed"},
		{"expired", "GET", "/box/a", signed(sas.with("se", "2030-01-02T03:00:00Z"), "/box/a"), "AuthenticationFailed"},
		{"with a policy", "GET", "/box/a", signed(sas.with("si", "p"), "/box/a"), "AuthenticationFailed"},
		{"access list", "GET", "/box?restype=container&comp=acl", signed(sas.with("sr", "c"), "/box"), "AuthorizationPermissionMismatch"},
	} {
		a := b.ask(row.method, row.path, "", row.sas)
		if row.code == "" && a.Status != 200 || row.code != "" && (a.Status != 403 || a.Code != row.code) {
			t.Errorf("%s: %d %s, want %q\n%s", row.name, a.Status, a.Code, row.code, a.Body)
		}
	}
	b.clk.Advance(2 * time.Hour) // the key is at its end, the signature not
	if a := b.ask("GET", "/box/a", "", signed(sas.with("se", "2030-01-02T08:00:00Z"), "/box/a")); a.Status != 403 || a.Code != "AuthenticationFailed" {
		t.Errorf("after the key: %d %s", a.Status, a.Code)
	}
}

package rest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// The example of the documentation (docs: Authorize with Shared Key) in the
// form that an emulator's address gives it: the account appears twice.
func TestStringToSignIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	text := "PUT\n\n\n\n\n\n\n\n\n\n\n\n" +
		"x-ms-date:Wed, 02 Jan 2030 03:04:05 GMT\nx-ms-meta-a:1\nx-ms-version:2021-12-02\n" +
		"/devstoreaccount1/devstoreaccount1/orders\ncomp:metadata\ntimeout:30"
	r := b.request("PUT", "/orders?timeout=30&comp=metadata", "")
	r.Header.Set("x-ms-meta-a", " 1 ")
	sign(t, r, rest.DevAccount, rest.DevKey, text)
	if a := b.send(r); a.Status != 204 {
		t.Errorf("documented string to sign: %d\n%s", a.Status, a.Body)
	}
}

// A signed part of a request cannot be changed on the way.
func TestEveryLineIsSigned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	for name, change := range map[string]func(*http.Request){
		"method":               func(r *http.Request) { r.Method = "HEAD" },
		"Content-Encoding":     header("Content-Encoding", "x"),
		"Content-Language":     header("Content-Language", "x"),
		"Content-MD5":          header("Content-Md5", "x"),
		"Content-Type":         header("Content-Type", "x"),
		"date":                 func(r *http.Request) { r.Header.Del("X-Ms-Date"); r.Header.Set("Date", "x") },
		"If-Modified-Since":    header("If-Modified-Since", "x"),
		"If-Match":             header("If-Match", "x"),
		"If-None-Match":        header("If-None-Match", "x"),
		"If-Unmodified-Since":  header("If-Unmodified-Since", "x"),
		"Range":                header("Range", "x"),
		"header of the vendor": header("X-Ms-Anything", "x"),
		"value of such a one":  header("X-Ms-Version", "2000-01-01"),
		"path":                 func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, "orders", "others", 1) },
		"query":                func(r *http.Request) { r.URL.RawQuery += "&a=b" },
		"value of the query":   func(r *http.Request) { r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "1", "2", 1) },
	} {
		r := b.request("GET", "/orders?comp=metadata&x=1", "")
		sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
		if a := b.send(r.Clone(t.Context())); a.Status != 200 {
			t.Fatalf("unchanged: %d", a.Status)
		}
		change(r)
		if a := b.send(r); a.Status != 403 || a.Code != "AuthenticationFailed" {
			t.Errorf("%s changed: %d %s, want 403", name, a.Status, a.Code)
		}
		// An Authorization that signs it is good.
		sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
		if a := b.send(r); a.Status == 403 {
			t.Errorf("%s signed: 403\n%s", name, a.Body)
		}
	}
}

func TestAuthorizationHeader(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good := func(r *http.Request) string { return mac(t, rest.DevKey, stringToSign(r, rest.DevAccount)) }
	for _, row := range []struct {
		name   string
		header func(*http.Request) string
		status int
		code   string
	}{
		{"none", func(*http.Request) string { return "" }, 401, "NoAuthenticationInformation"},
		{"first key", func(r *http.Request) string { return "SharedKey devstoreaccount1:" + good(r) }, 200, ""},
		{"second key", func(r *http.Request) string {
			return "SharedKey devstoreaccount1:" + mac(t, secondKey, stringToSign(r, rest.DevAccount))
		}, 200, ""},
		{"wrong key", func(r *http.Request) string {
			return "SharedKey devstoreaccount1:" + mac(t, "d3Jvbmc=", stringToSign(r, rest.DevAccount))
		}, 403, "AuthenticationFailed"},
		{"not base64", func(*http.Request) string { return "SharedKey devstoreaccount1:!!" }, 403, "AuthenticationFailed"},
		{"empty signature", func(*http.Request) string { return "SharedKey devstoreaccount1:" }, 403, "AuthenticationFailed"},
		{"other account", func(r *http.Request) string { return "SharedKey other:" + good(r) }, 403, "AuthenticationFailed"},
		{"no signature", func(*http.Request) string { return "SharedKey devstoreaccount1" }, 400, "InvalidAuthenticationInfo"},
		{"one word", func(*http.Request) string { return "SharedKey" }, 400, "InvalidAuthenticationInfo"},
		{"other scheme", func(*http.Request) string { return "Basic abc" }, 400, "InvalidAuthenticationInfo"},
		{"bearer without TLS", func(*http.Request) string { return "Bearer abc" }, 403, "AuthenticationFailed"},
	} {
		r := b.request("GET", "/?comp=list", "")
		if h := row.header(r); h != "" {
			r.Header.Set("Authorization", h)
		}
		if a := b.send(r); a.Status != row.status || a.Code != row.code {
			t.Errorf("%s: %d %s, want %d %s", row.name, a.Status, a.Code, row.status, row.code)
		}
	}
}

func TestSharedKeyLite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	r := b.request("GET", "/orders?comp=metadata&timeout=30", "")
	r.Header.Set("Content-Type", "text/plain")
	text := "GET\n\ntext/plain\n\nx-ms-date:Wed, 02 Jan 2030 03:04:05 GMT\nx-ms-version:2021-12-02\n/devstoreaccount1/devstoreaccount1/orders?comp=metadata"
	r.Header.Set("Authorization", "SharedKeyLite devstoreaccount1:"+mac(t, rest.DevKey, text))
	if a := b.send(r); a.Status != 200 {
		t.Errorf("SharedKeyLite: %d\n%s", a.Status, a.Body)
	}
	r.Header.Set("Content-Type", "text/html")
	if a := b.send(r); a.Status != 403 {
		t.Errorf("changed: %d, want 403", a.Status)
	}
}

// A path is signed as sent; clients that sign it decoded are let in too.
func TestEscapedPathAndItsSecondTry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	m := b.put("orders", "a")
	path := "/orders/messages/" + strings.ReplaceAll(m.MessageID, "-", "%2D") + query("popreceipt", *m.PopReceipt, "visibilitytimeout", "0")
	b.want(204, "", "PUT", path, "")

	r := b.request("GET", "/%6Frders?comp=metadata", "")
	sign(t, r, rest.DevAccount, rest.DevKey, strings.Replace(stringToSign(r, rest.DevAccount), "%6Frders", "orders", 1))
	if a := b.send(r); a.Status != 200 {
		t.Errorf("decoded: %d\n%s", a.Status, a.Body)
	}
}

func TestQueryIsSignedInLowerCaseSortedAndJoined(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.request("GET", "/?Comp=list&b=2&b=1&a=%2Fx%20y", "")
	text := "GET\n\n\n\n\n\n\n\n\n\n\n\n" + canonicalHeaders(r) + "/devstoreaccount1/devstoreaccount1/\na:/x y\nb:1,2\ncomp:list"
	sign(t, r, rest.DevAccount, rest.DevKey, text)
	if a := b.send(r); a.Status != 200 {
		t.Errorf("%d\n%s", a.Status, a.Body)
	}
}

// The service sorts header names as people do, and so do the SDKs for JavaScript
// and Python; others sort bytes.
func TestHeadersAreSortedInEitherOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	for _, row := range []struct {
		name, metadata string
		want           int
	}{
		{"as the service", "x-ms-meta-a_1:v\nx-ms-meta-a1:v\nx-ms-meta-ab:v\n", 204},
		{"by bytes", "x-ms-meta-a1:v\nx-ms-meta-a_1:v\nx-ms-meta-ab:v\n", 204},
		{"not at all", "x-ms-meta-ab:v\nx-ms-meta-a1:v\nx-ms-meta-a_1:v\n", 403},
	} {
		r := b.request("PUT", "/orders?comp=metadata", "")
		for _, name := range []string{"A1", "A_1", "Ab"} {
			r.Header.Set("X-Ms-Meta-"+name, "v")
		}
		text := "PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + r.Header.Get("X-Ms-Date") + "\n" + row.metadata +
			"x-ms-version:2021-12-02\n/devstoreaccount1/devstoreaccount1/orders\ncomp:metadata"
		sign(t, r, rest.DevAccount, rest.DevKey, text)
		if a := b.send(r); a.Status != row.want {
			t.Errorf("%s: %d, want %d\n%s", row.name, a.Status, row.want, a.Body)
		}
	}
}

// Before version 2015-02-21 an empty body was signed as 0.
func TestLengthOfAnEmptyBody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for version, want := range map[string]int{"2014-02-14": 200, "2015-02-21": 403} {
		r := b.request("GET", "/?comp=list", "")
		r.Header.Set("X-Ms-Version", version)
		text := strings.Replace(stringToSign(r, rest.DevAccount), "GET\n\n\n\n", "GET\n\n\n0\n", 1)
		sign(t, r, rest.DevAccount, rest.DevKey, text)
		if a := b.send(r); a.Status != want {
			t.Errorf("version %s signed with 0: %d, want %d", version, a.Status, want)
		}
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	lax, strict := newBench(t), newBench(t, func(s *setup) { s.rest.StrictDates = true })
	for _, row := range []struct {
		name, date string
		strict     int
	}{
		{"now", start.Format(http.TimeFormat), 200},
		{"14 minutes ago", start.Add(-14 * time.Minute).Format(http.TimeFormat), 200},
		{"in 14 minutes", start.Add(14 * time.Minute).Format(http.TimeFormat), 200},
		{"16 minutes ago", start.Add(-16 * time.Minute).Format(http.TimeFormat), 403},
		{"in 16 minutes", start.Add(16 * time.Minute).Format(http.TimeFormat), 403},
		{"years ago", "Mon, 02 Jan 2006 15:04:05 GMT", 403},
		{"no date", "", 403},
		{"nonsense", "yesterday", 403},
	} {
		edit := header("X-Ms-Date", row.date)
		lax.want(200, "", "GET", "/?comp=list", "", edit)
		if a := strict.call("GET", "/?comp=list", "", edit); a.Status != row.strict {
			t.Errorf("%s with strict dates: %d, want %d", row.name, a.Status, row.strict)
		}
	}
}

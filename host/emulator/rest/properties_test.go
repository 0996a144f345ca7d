package rest_test

import (
	"net/http"
	"strings"
	"testing"
)

const declared = `<?xml version="1.0" encoding="utf-8"?>`

const noProperties = declared + `<StorageServiceProperties>` +
	`<Logging><Version>1.0</Version><Delete>false</Delete><Read>false</Read><Write>false</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>` +
	`<HourMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></HourMetrics>` +
	`<MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></MinuteMetrics>` +
	`<Cors></Cors></StorageServiceProperties>`

const allProperties = declared + `<StorageServiceProperties>` +
	`<Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read><Write>true</Write><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging>` +
	`<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></HourMetrics>` +
	`<MinuteMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>365</Days></RetentionPolicy></MinuteMetrics>` +
	`<Cors><CorsRule><AllowedOrigins>http://a.example,http://b.example</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods><AllowedHeaders>x-ms-meta-*,content-type</AllowedHeaders><ExposedHeaders>x-ms-*,date</ExposedHeaders><MaxAgeInSeconds>100</MaxAgeInSeconds></CorsRule>` +
	`<CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods><AllowedHeaders></AllowedHeaders><ExposedHeaders></ExposedHeaders><MaxAgeInSeconds>0</MaxAgeInSeconds></CorsRule></Cors>` +
	`</StorageServiceProperties>`

const propertiesPath = "/?restype=service&comp=properties"

func TestServiceProperties(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	get := func(want string) {
		t.Helper()
		if got := b.want(200, "", "GET", propertiesPath, "").Body; got != want {
			t.Errorf("properties:\n%s\nwant\n%s", got, want)
		}
	}
	get(noProperties)
	b.want(202, "", "PUT", propertiesPath, allProperties)
	get(allProperties)
	// An omitted setting stays; an empty one is set.
	b.want(202, "", "PUT", propertiesPath, "<StorageServiceProperties></StorageServiceProperties>")
	get(allProperties)
	b.want(202, "", "PUT", propertiesPath, "<StorageServiceProperties><Cors/></StorageServiceProperties>")
	before, rest, _ := strings.Cut(allProperties, "<Cors>")
	_, after, _ := strings.Cut(rest, "</Cors>")
	get(before + "<Cors></Cors>" + after)
}

func TestPropertiesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rule := func(origins, methods, age string) string {
		return "<CorsRule><AllowedOrigins>" + origins + "</AllowedOrigins><AllowedMethods>" + methods + "</AllowedMethods><AllowedHeaders/><ExposedHeaders/><MaxAgeInSeconds>" + age + "</MaxAgeInSeconds></CorsRule>"
	}
	cors := func(rules string) string {
		return "<StorageServiceProperties><Cors>" + rules + "</Cors></StorageServiceProperties>"
	}
	for name, row := range map[string]struct{ body, code string }{
		"no body":        {"", "InvalidXmlDocument"},
		"no XML":         {"hello", "InvalidXmlDocument"},
		"other document": {"<Properties/>", "InvalidXmlDocument"},
		"six rules":      {cors(strings.Repeat(rule("*", "GET", "1"), 6)), "InvalidXmlDocument"},
		"no origin":      {cors(rule("", "GET", "1")), "InvalidXmlNodeValue"},
		"unknown method": {cors(rule("*", "GET,FETCH", "1")), "InvalidXmlNodeValue"},
		"negative age":   {cors(rule("*", "GET", "-1")), "InvalidXmlNodeValue"},
		"age no number":  {cors(rule("*", "GET", "long")), "InvalidXmlDocument"},
		"no days":        {"<StorageServiceProperties><Logging><Version>1.0</Version><RetentionPolicy><Enabled>true</Enabled></RetentionPolicy></Logging></StorageServiceProperties>", "InvalidXmlNodeValue"},
		"366 days":       {"<StorageServiceProperties><HourMetrics><RetentionPolicy><Enabled>true</Enabled><Days>366</Days></RetentionPolicy></HourMetrics></StorageServiceProperties>", "InvalidXmlNodeValue"},
		"not a boolean":  {"<StorageServiceProperties><HourMetrics><Enabled>perhaps</Enabled></HourMetrics></StorageServiceProperties>", "InvalidXmlDocument"},
	} {
		if a := b.call("PUT", propertiesPath, row.body); a.Status != 400 || a.Code != row.code {
			t.Errorf("%s: %d %s, want 400 %s", name, a.Status, a.Code, row.code)
		}
	}
	b.want(413, "RequestBodyTooLarge", "PUT", propertiesPath, strings.Repeat(" ", 65<<10))
	if got := b.want(200, "", "GET", propertiesPath, "").Body; got != noProperties {
		t.Errorf("refused properties changed something:\n%s", got)
	}
}

// preflight asks as a browser does before a request of another origin.
func (b *bench) preflight(origin, method, headers string) answer {
	b.Helper()
	r := b.request("OPTIONS", "/orders/messages", "")
	for name, v := range map[string]string{"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers} {
		if v != "" {
			r.Header.Set(name, v)
		}
	}
	return b.send(r)
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if a := b.preflight("http://a.example", "GET", ""); a.Status != 403 || a.Code != "CorsPreflightFailure" {
		t.Errorf("without rules: %d %s", a.Status, a.Code)
	}
	b.want(202, "", "PUT", propertiesPath, allProperties)
	for _, row := range []struct {
		origin, method, headers string
		status                  int
		code, age               string
	}{
		{"http://a.example", "PUT", "", 200, "", "100"},
		{"HTTP://B.EXAMPLE", "put", "x-ms-meta-a, Content-Type", 200, "", "100"},
		{"http://c.example", "GET", "", 200, "", "0"},
		{"http://c.example", "PUT", "", 403, "CorsPreflightFailure", ""},
		{"http://a.example", "DELETE", "", 403, "CorsPreflightFailure", ""},
		{"http://a.example", "PUT", "x-ms-date", 403, "CorsPreflightFailure", ""},
		{"http://c.example", "GET", "x-ms-meta-a", 403, "CorsPreflightFailure", ""},
		{"", "GET", "", 400, "InvalidHeaderValue", ""},
		{"http://a.example", "", "", 400, "InvalidHeaderValue", ""},
	} {
		a := b.preflight(row.origin, row.method, row.headers)
		if a.Status != row.status || a.Code != row.code || a.Header.Get("Access-Control-Max-Age") != row.age {
			t.Errorf("%+v: %d %s, age %q", row, a.Status, a.Code, a.Header.Get("Access-Control-Max-Age"))
		}
		if a.Status == 200 {
			for name, want := range map[string]string{"Allow-Origin": row.origin, "Allow-Methods": row.method, "Allow-Headers": row.headers, "Allow-Credentials": "true"} {
				if got := a.Header.Get("Access-Control-" + name); got != want {
					t.Errorf("%+v: %s = %q, want %q", row, name, got, want)
				}
			}
		}
	}
}

func TestAnswersToOtherOrigins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	origin := func(o string) func(*http.Request) { return header("Origin", o) }
	a := b.want(403, "AuthorizationFailure", "GET", "/orders?comp=metadata", "", origin("http://a.example"))
	if a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without rules: %v", a.Header)
	}
	b.want(202, "", "PUT", propertiesPath, allProperties)
	a = b.want(200, "", "GET", "/orders?comp=metadata", "", origin("http://a.example"))
	if h := a.Header; h.Get("Access-Control-Allow-Origin") != "http://a.example" || h.Get("Access-Control-Allow-Credentials") != "true" || h.Get("Vary") != "Origin" ||
		h.Get("Access-Control-Expose-Headers") != "date,x-ms-approximate-messages-count,x-ms-request-id,x-ms-version" {
		t.Errorf("by the first rule: %v", h)
	}
	a = b.want(200, "", "GET", "/orders?comp=metadata", "", origin("http://c.example"))
	if h := a.Header; h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Vary") != "" || h.Get("Access-Control-Allow-Credentials") != "" || h["Access-Control-Expose-Headers"] != nil {
		t.Errorf("by the second rule: %v", h)
	}
	a = b.want(403, "AuthorizationFailure", "PUT", "/orders", "", origin("http://c.example"))
	if h := a.Header; h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("by no rule: %v", h)
	}
	// Pages can read errors too, also those of authorization.
	r := b.request("GET", "/orders?comp=metadata", "")
	r.Header.Set("Origin", "http://a.example")
	if a := b.send(r); a.Status != 401 || a.Header.Get("Access-Control-Allow-Origin") != "http://a.example" {
		t.Errorf("an error: %d %v", a.Status, a.Header)
	}
}

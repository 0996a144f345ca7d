package grid_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/rest/grid"
)

func token(resource, expiry, key string) string {
	signed := "r=" + url.QueryEscape(resource) + "&e=" + url.QueryEscape(expiry)
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		raw = []byte(key)
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(signed))
	return signed + "&s=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// Keys and tokens.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	const resource, later, past = "https://localhost/orders/api/events", "1/1/2031 12:00:00 AM", "12/31/2029 11:59:59 PM" // the clock is at 2030
	good := token(resource, later, key)
	for name, test := range map[string]struct {
		opts   *grid.Options
		header []string
		status int
	}{
		"key":                   {nil, []string{"aeg-sas-key", key}, 200},
		"wrong key":             {nil, []string{"aeg-sas-key", key + "x"}, 401},
		"nothing":               {nil, nil, 401},
		"nothing, open":         {&grid.Options{Open: true}, nil, 200},
		"wrong key, open":       {&grid.Options{Open: true}, []string{"aeg-sas-key", "x"}, 401},
		"token":                 {nil, []string{"aeg-sas-token", good}, 200},
		"Authorization":         {nil, []string{"Authorization", "SharedAccessSignature " + good}, 200},
		"for the topic":         {nil, []string{"aeg-sas-token", token("https://localhost/Orders", later, key)}, 200},
		"of its client":         {nil, []string{"aeg-sas-token", token(resource+"?apiVersion=2018-01-01", later, key)}, 200},
		"for a longer name":     {nil, []string{"aeg-sas-token", token("https://localhost/order", later, key)}, 401},
		"for the host":          {nil, []string{"aeg-sas-token", token("https://localhost/", later, key)}, 200},
		"no token":              {nil, []string{"aeg-sas-token", "x"}, 401},
		"key of another case":   {nil, []string{"aeg-sas-key", strings.ToLower(key)}, 401},
		"empty key":             {nil, []string{"aeg-sas-key", ""}, 401},
		"lower-case scheme":     {nil, []string{"Authorization", "sharedaccesssignature " + good}, 200},
		"key before token":      {nil, []string{"aeg-sas-key", "x", "aeg-sas-token", good}, 401},
		"for another topic":     {nil, []string{"aeg-sas-token", token("https://localhost/other/api/events", later, key)}, 401},
		"signed by another key": {nil, []string{"aeg-sas-token", token(resource, later, "x")}, 401},
		"changed":               {nil, []string{"aeg-sas-token", strings.Replace(good, "2031", "2032", 1)}, 401},
		"no signature":          {nil, []string{"aeg-sas-token", "r=x&e=y"}, 401},
		"no expiry":             {nil, []string{"aeg-sas-token", token(resource, "soon", key)}, 401},
		"expired":               {nil, []string{"aeg-sas-token", token(resource, "1/1/2020 12:00:00 PM", key)}, 401},
		"expired here only":     {nil, []string{"aeg-sas-token", token(resource, "12/31/2029 11:59:59 PM", key)}, 200},
		"expired, strict":       {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, past, key)}, 401},
		"later, strict":         {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "2031-01-01 00:00:00+00:00", key)}, 200},
		"short, of Java":        {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "1/1/2031 1:2:3 AM", key)}, 200},
		"of .NET, ICU 72":       {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "1/1/2031 1:40:43\u202fAM +00:00", key)}, 200},
		"of .NET, older ICU":    {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "1/1/2031 1:40:43\u00a0AM +00:00", key)}, 200},
		"of .NET, invariant":    {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "01/01/2031 01:40:44 +00:00", key)}, 200},
		"invariant, evening":    {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "12/31/2029 23:40:44 -02:00", key)}, 200},
		"invariant, over":       {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "12/31/2029 23:40:44 +00:00", key)}, 401},
		"DateTime, ICU 72":      {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "1/1/2031 1:40:43\u202fAM", key)}, 200},
		"DateTime, invariant":   {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "01/01/2031 13:40:44", key)}, 200},
		"ISO, no zone":          {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "2031-01-01T00:00:00.1234567", key)}, 200},
		"hour 24":               {nil, []string{"aeg-sas-token", token(resource, "01/01/2031 24:00:00 +00:00", key)}, 401},
		"bearer over HTTP":      {nil, []string{"Authorization", "Bearer x"}, 401},
		"basic":                 {nil, []string{"Authorization", "Basic x"}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, test.opts)
			if w := d.send("POST", events, "["+event+"]", test.header...); w.Code != test.status {
				t.Errorf("%d %s, want %d", w.Code, w.Body, test.status)
			} else if w.Code == 401 && !strings.Contains(w.Body.String(), `"The request authorization key is not authorized for ORDERS. `) {
				t.Errorf("refused with %s", w.Body)
			}
		})
	}
}

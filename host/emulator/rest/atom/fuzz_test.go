package atom_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
)

// FuzzBody: whatever a client sends, the answer is a well-formed document with a
// status that means something, and what was created can be read.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		queueEntry("<LockDuration>PT1M</LockDuration><ForwardTo>x</ForwardTo><UserMetadata>&lt;\x01</UserMetadata>"),
		entry("<TopicDescription" + spaces + "><DefaultMessageTimeToLive>P1D</DefaultMessageTimeToLive></TopicDescription>"),
		entry("<SubscriptionDescription" + spaces + `><DefaultRuleDescription><Filter i:type="SqlFilter"><SqlExpression>a=@b</SqlExpression><Parameters>` +
			`<KeyValueOfstringanyType><Key>@b</Key><Value i:type="d6p1:double" xmlns:d6p1="x">NaN</Value></KeyValueOfstringanyType></Parameters></Filter></DefaultRuleDescription></SubscriptionDescription>`),
		ruleEntry(`<Filter i:type="CorrelationFilter"><To>x</To></Filter><Action i:type="SqlRuleAction"><SqlExpression>SET a=1</SqlExpression></Action>`),
		"<entry", "",
	} {
		for _, path := range []string{"/q", "/topic1/Subscriptions/s", "/topic1/Subscriptions/all/Rules/r"} {
			f.Add(path, body, false)
		}
	}
	f.Add("/topic1/Subscriptions/all", entry("<SubscriptionDescription/>"), true)
	f.Fuzz(func(t *testing.T, path, body string, update bool) {
		u, err := url.Parse("https://x/")
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/" + strings.TrimLeft(path, "/")
		d := newServer(t, nil)
		d.create("topic1", "topic1/Subscriptions/all")
		var headers []string
		if update {
			headers = []string{"If-Match", "*"}
		}
		for _, method := range []string{"PUT", "GET"} {
			res := d.request(method, u.RequestURI(), body, headers...)
			b, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode >= 500 {
				t.Fatalf("%s %q: %d %s", method, path, res.StatusCode, b)
			}
			if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
				continue
			}
			for dec := xml.NewDecoder(strings.NewReader(string(b))); ; {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s %q: %v in %s", method, path, err, b)
				}
			}
		}
	})
}

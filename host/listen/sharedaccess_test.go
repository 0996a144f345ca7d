package listen_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/listen"
)

// FuzzParseSharedAccess: a token that is made of any resource, rule and key is read as that,
// is signed by that key and no other, and is good for that resource and no other text is.
func FuzzParseSharedAccess(f *testing.F) {
	f.Add("amqp://127.0.0.1/Orders/", "RootManageSharedAccessKey", "SAS_KEY_VALUE", int64(1767225600), "SharedAccessSignature sr=a&sig=b&se=1&skn=c")
	f.Add("sb://ns.servicebus.windows.net/t/Subscriptions/s?api-version=2017-04", "sénd&ers=%20+", "", int64(-1), "sharedaccesssignature SR=%zz&SE=&&=&sig")
	f.Add("", "", "\x00", int64(1)<<62, "SharedAccessSignature")
	f.Fuzz(func(t *testing.T, resource, rule, key string, expiry int64, foreign string) {
		if odd, ok := listen.ParseSharedAccess(foreign); ok {
			odd.Covers(resource)
			odd.Expired(time.Unix(0, 0))
			if odd.SignedBy(key) && !odd.SignedBy("another", key) {
				t.Errorf("%q is signed by %q, and not by one of two keys", foreign, key)
			}
		}
		uri, se := url.QueryEscape(resource), strconv.FormatInt(expiry, 10)
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(uri + "\n" + se))
		text := "SharedAccessSignature sr=" + uri + "&sig=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil))) + "&se=" + se + "&skn=" + url.QueryEscape(rule)
		token, ok := listen.ParseSharedAccess(text)
		if !ok || token.Resource != resource || token.Rule != rule || !token.Expiry.Equal(time.Unix(expiry, 0)) {
			t.Fatalf("%q is read as %+v, %v", text, token, ok)
		}
		if !token.SignedBy(key) || !token.SignedBy("another", key) || token.SignedBy() || token.SignedBy(key+"x") {
			t.Errorf("%q: signed by %q: %v, by nobody: %v, by another: %v", text, key, token.SignedBy(key), token.SignedBy(), token.SignedBy(key+"x"))
		}
		if longer, _ := listen.ParseSharedAccess(text + "&sr=" + uri + "x"); longer.SignedBy(key) {
			t.Errorf("%q is signed for another resource too", text)
		}
		if past := expiry <= 1; past && !token.Expired(time.Unix(1, 0)) {
			t.Errorf("%q is good at a time after its own", text)
		}
	})
}

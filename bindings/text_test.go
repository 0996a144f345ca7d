package bindings_test

import (
	"testing"

	"github.com/redeliver/redeliver/bindings"
)

// The first row was seen on the functions host 4.1037; the others are the examples of
// Unicode 15, tables 3-8 to 3-11, which .NET follows.
func TestText(t *testing.T) {
	t.Parallel()
	const no = "\uFFFD"
	for body, want := range map[string]string{
		"\x00\xff\xfeabc":                   "\x00" + no + no + "abc",
		"grüße \uFFFD 😀":                    "grüße \uFFFD 😀",
		"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82A": no + no + no + no + no + no + no + no + "A",
		"\xed\xa0\x80\xed\xbf\xbf\xed\xafA": no + no + no + no + no + no + no + no + "A",
		"\xf4\x91\x92\x93\xffA\x80\xbfB":    no + no + no + no + no + "A" + no + no + "B",
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA": no + no + no + no + "A",
		"\xe2\x82":                          no,
		"\xf0\x9f\x98":                      no,
		"\xc3":                              no,
		"":                                  "",
	} {
		if got := bindings.Text([]byte(body)); got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}

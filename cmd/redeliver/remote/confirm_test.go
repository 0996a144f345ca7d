package remote

import (
	"strings"
	"testing"
)

// Only yes is yes: an empty answer and the end of the input are no.
func TestAgree(t *testing.T) {
	t.Parallel()
	for answer, agreed := range map[string]bool{"y\n": true, " YES \r\n": true, "y": true, "\n": false, "": false, "no\n": false, "yesterday\n": false} {
		var asked strings.Builder
		if err := agree(strings.NewReader(answer), &asked, "go on? "); (err == nil) != agreed || asked.String() != "go on? " {
			t.Errorf("%q: %v, asked %q", answer, err, asked.String())
		}
	}
}

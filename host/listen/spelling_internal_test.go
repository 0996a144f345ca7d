package listen

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// FuzzSpelling: however a connection's bytes are cut, the same names are noted,
// and a name that is noted is there.
func FuzzSpelling(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nX-Ms-Meta-FooBar: 1\r\nx-ms-meta-b: 2\r\n\r\nx-ms-meta-Body:"), uint8(3))
	f.Add([]byte("x-ms-meta-\nx-ms-metaa: b\nx-ms-meta-A\n:x-ms-meta-B:"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		prefix := []string{"", "x-ms-meta-"}[size%2]
		whole, parts := &spellingConn{prefix: prefix}, &spellingConn{prefix: prefix}
		whole.noteLocked(b)
		for rest := b; len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			parts.noteLocked(rest[:n])
			rest = rest[n:]
		}
		if !reflect.DeepEqual(whole.names, parts.names) {
			t.Errorf("names %v in one piece, %v in pieces of %d", whole.names, parts.names, int(size)+1)
		}
		for _, name := range whole.names {
			if !bytes.Contains(b, []byte(name.name)) {
				t.Errorf("noted %q, which nobody sent", name.name)
			}
		}
		if len(whole.line) > maxName {
			t.Errorf("kept %d bytes of a line", len(whole.line))
		}
	})
}

func TestSpellingsAreLimited(t *testing.T) {
	t.Parallel()
	c := &spellingConn{prefix: "x-ms-meta-"}
	for i := range 10 * maxSpellings {
		c.noteLocked([]byte("x-ms-meta-" + strings.Repeat("a", i%700) + string(rune('a'+i%26)) + ": 1\r\n"))
	}
	if len(c.names) > maxSpellings {
		t.Errorf("%d spellings kept", len(c.names))
	}
	c.next()
	c.noteLocked([]byte("x-ms-meta-" + strings.Repeat("b", 2*maxName) + ": 1\r\nx-ms-meta-C: 1\r\n"))
	if got := c.names["x-ms-meta-c"].name; got != "x-ms-meta-C" {
		t.Errorf("spelling after a long line = %q", got)
	}
}

package azure

import (
	"fmt"
	"slices"
	"testing"
)

// TestRecent: what was used longest ago goes when there are too many, but nothing that is in
// use.
func TestRecent(t *testing.T) {
	t.Parallel()
	var closed []string
	opened := 0
	r := newRecent(3, func(s string) { closed = append(closed, s) })
	use := func(key string) (leave func()) {
		t.Helper()
		v, leave, err := r.use(key, func() (string, error) { opened++; return key, nil })
		if err != nil || v != key {
			t.Errorf("use(%s) = %s, %v", key, v, err)
		}
		return leave
	}
	busy := use("busy")
	for i := range 3 {
		use(fmt.Sprint(i))()
	}
	use("1")()
	use("3")()
	if want := []string{"0", "2"}; !slices.Equal(closed, want) {
		t.Errorf("closed %q, want %q", closed, want)
	}
	if use("1")(); opened != 5 {
		t.Errorf("opened %d times, want 5", opened)
	}
	busy()
	use("4")()
	if want := []string{"0", "2", "busy"}; !slices.Equal(closed, want) {
		t.Errorf("closed %q, want %q", closed, want)
	}
}

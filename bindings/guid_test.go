package bindings_test

import (
	"testing"

	"github.com/redeliver/redeliver/bindings"
)

func TestGUID(t *testing.T) {
	t.Parallel()
	const text = "00112233-4455-6677-8899-aabbccddeeff"
	g, err := bindings.ParseGUID("{" + text + "}")
	if err != nil || g.String() != text {
		t.Errorf("ParseGUID = %v, %v, want %s", g, err, text)
	}
	if _, err := bindings.ParseGUID("nonsense"); err == nil {
		t.Error("ParseGUID(nonsense) succeeded")
	}
}

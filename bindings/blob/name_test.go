package blob_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

func TestValidateBlobName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		service, bound bool
	}{
		{"a", true, true},
		{"dir/a.txt", true, true},
		{strings.Repeat("ü", 1024), true, true},
		{strings.Repeat("ü", 1025), false, false},
		{"", false, false},
		{"\xff", false, true},
		{`a\b`, true, false},
		{"a.", true, false},
		{"a/", true, false},
		{"./a", true, true},
	} {
		err := blob.ValidateName(tt.name)
		if (err == nil) != tt.service || err != nil && !errors.Is(err, bindings.ErrInvalidName) {
			t.Errorf("ValidateBlobName(%.20q) = %v, want valid: %v", tt.name, err, tt.service)
		}
		err = blob.ValidateBoundName(tt.name)
		if (err == nil) != tt.bound || err != nil && !errors.Is(err, bindings.ErrInvalidName) {
			t.Errorf("ValidateBoundBlobName(%.20q) = %v, want valid: %v", tt.name, err, tt.bound)
		}
	}
}

func TestValidateContainerName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]storage.Code{
		"abc": "", "a-b-1": "", "$root": "", "$logs": "", "$web": "", strings.Repeat("a", 63): "",
		"": storage.CodeOutOfRangeInput, "ab": storage.CodeOutOfRangeInput, strings.Repeat("a", 64): storage.CodeOutOfRangeInput,
		"Abc": storage.CodeInvalidResourceName, "a_b": storage.CodeInvalidResourceName, "a--b": storage.CodeInvalidResourceName,
		"-ab": storage.CodeInvalidResourceName, "ab-": storage.CodeInvalidResourceName, "müll": storage.CodeInvalidResourceName,
		"$rot": storage.CodeInvalidResourceName, "a/b": storage.CodeInvalidResourceName,
	} {
		if got := storage.CodeOf(blob.ValidateContainerName(name)); got != want {
			t.Errorf("ValidateContainerName(%q): code %q, want %q", name, got, want)
		}
	}
}

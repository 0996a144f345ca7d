package bindings_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
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
		err := bindings.ValidateBlobName(tt.name)
		if (err == nil) != tt.service || err != nil && !errors.Is(err, bindings.ErrInvalidName) {
			t.Errorf("ValidateBlobName(%.20q) = %v, want valid: %v", tt.name, err, tt.service)
		}
		err = bindings.ValidateBoundBlobName(tt.name)
		if (err == nil) != tt.bound || err != nil && !errors.Is(err, bindings.ErrInvalidName) {
			t.Errorf("ValidateBoundBlobName(%.20q) = %v, want valid: %v", tt.name, err, tt.bound)
		}
	}
}

func TestValidateContainerName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bindings.BlobCode{
		"abc": "", "a-b-1": "", "$root": "", "$logs": "", "$web": "", strings.Repeat("a", 63): "",
		"": bindings.CodeOutOfRangeInput, "ab": bindings.CodeOutOfRangeInput, strings.Repeat("a", 64): bindings.CodeOutOfRangeInput,
		"Abc": bindings.CodeInvalidResourceName, "a_b": bindings.CodeInvalidResourceName, "a--b": bindings.CodeInvalidResourceName,
		"-ab": bindings.CodeInvalidResourceName, "ab-": bindings.CodeInvalidResourceName, "müll": bindings.CodeInvalidResourceName,
		"$rot": bindings.CodeInvalidResourceName, "a/b": bindings.CodeInvalidResourceName,
	} {
		if got := bindings.BlobCodeOf(bindings.ValidateContainerName(name)); got != want {
			t.Errorf("ValidateContainerName(%q): code %q, want %q", name, got, want)
		}
	}
}

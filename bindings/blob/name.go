package blob

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Limits of names (docs: "Naming and referencing containers, blobs, and
// metadata").
const (
	minContainerName = 3
	maxContainerName = 63
	maxBlobName      = 1024 // characters
)

// ValidateContainerName checks the blob service's naming rules: 3 to 63
// characters, lower-case ASCII letters, digits and single dashes, a letter or
// digit at both ends; or one of $root, $logs and $web. The error is a *storage.Error:
// OutOfRangeInput for the length, InvalidResourceName for the rest.
func ValidateContainerName(name string) error {
	switch name {
	case "$root", "$logs", "$web":
		return nil
	}
	refuse := func(code storage.Code, why string) error {
		err := storage.NewError(code)
		err.Text = fmt.Sprintf("container name %q: %s", name, why)
		return err
	}
	if len(name) < minContainerName || len(name) > maxContainerName {
		return refuse(storage.CodeOutOfRangeInput, "must have 3 to 63 characters")
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case c != '-':
			return refuse(storage.CodeInvalidResourceName, "may have lower-case letters, digits and dashes only")
		case i == 0 || i == len(name)-1 || name[i-1] == '-':
			return refuse(storage.CodeInvalidResourceName, "a dash must stand between letters or digits")
		}
	}
	return nil
}

// ValidateName checks what the service itself asks of a name: 1 to 1024
// characters, valid text. The error is a *storage.Error.
func ValidateName(name string) error {
	if n := utf8.RuneCountInString(name); n < 1 || n > maxBlobName {
		err := storage.NewError(storage.CodeOutOfRangeInput)
		err.Text = fmt.Sprintf("blob name of %d characters: must have 1 to %d", n, maxBlobName)
		return err
	}
	if !utf8.ValidString(name) {
		err := storage.NewError(storage.CodeInvalidResourceName)
		err.Text = fmt.Sprintf("blob name %q: must be UTF-8", name)
		return err
	}
	return nil
}

// ValidateBoundName checks what a binding asks of a name, which is more than
// the service does: no backslash, no dot or slash at the end. The error is a
// *bindings.NameError.
//
// Source: webjobs sdk, BlobNameValidationAttribute.cs.
func ValidateBoundName(name string) error {
	refuse := func(why string) error {
		return &bindings.NameError{Name: name, Text: fmt.Sprintf("The given blob name '%s' %s", name, why)}
	}
	switch n := utf8.RuneCountInString(name); {
	case n < 1:
		return refuse("is too short: it must have at least one character.")
	case n > maxBlobName:
		return refuse(fmt.Sprintf("is too long: it must not have more than %d characters.", maxBlobName))
	case strings.Contains(name, `\`):
		return refuse(`contains illegal characters: a blob name must not contain '\'.`)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, "/"):
		return refuse("has an invalid suffix: a blob name must not end with '.' or '/'.")
	}
	return nil
}

package bindings

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Encoding says how the body of a queue message becomes the text of the
// service and back: host.json's extensions.queues.messageEncoding. The zero
// Encoding is Base64.
type Encoding uint8

// The encodings.
const (
	Base64   Encoding = iota // standard base64 with padding: the platform's default
	Verbatim                 // "none": the text is the body in UTF-8
)

// ErrUndecodable is what Decode's errors wrap: a text is not what the encoding
// says.
var ErrUndecodable = errors.New("undecodable body")

// ParseEncoding returns the encoding of that name, "base64" or "none" in any
// case; the empty name means base64.
func ParseEncoding(name string) (Encoding, error) {
	switch strings.ToLower(name) {
	case "", "base64":
		return Base64, nil
	case "none":
		return Verbatim, nil
	}
	return Base64, fmt.Errorf("message encoding %q: want base64 or none", name)
}

// String returns the encoding's name in host.json.
func (e Encoding) String() string {
	if e == Verbatim {
		return "none"
	}
	return "base64"
}

// Encode returns the text for a body. Verbatim turns each byte that is not
// UTF-8 into U+FFFD, because a text cannot hold it.
func (e Encoding) Encode(body []byte) string {
	if e == Base64 {
		return base64.StdEncoding.EncodeToString(body)
	}
	if utf8.Valid(body) {
		return string(body)
	}
	return string([]rune(string(body)))
}

// Decode returns the body of a text. Base64 ignores spaces, tabs and line ends
// wherever they stand and wants padding, as the .NET decoder does; text that is
// not base64 gives an error that wraps ErrUndecodable. Empty text is an empty
// body. Verbatim never fails.
func (e Encoding) Decode(text string) ([]byte, error) {
	if e == Verbatim {
		return []byte(text), nil
	}
	if strings.ContainsAny(text, " \t\r\n") {
		text = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(text)
	}
	body, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: not base64: %w", ErrUndecodable, err)
	}
	return body, nil
}

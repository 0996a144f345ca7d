package queue

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Encoding says how the body of a queue message becomes the text of the
// service and back: host.json's extensions.queues.messageEncoding. Its case
// does not matter, and the zero Encoding is Base64.
type Encoding string

// The encodings.
const (
	Base64   Encoding = "base64" // standard base64 with padding: the platform's default
	Verbatim Encoding = "none"   // the text is the body in UTF-8
)

// ErrUndecodable is what Decode's errors wrap: a text is not what the encoding
// says.
var ErrUndecodable = errors.New("undecodable body")

// ParseEncoding returns the encoding of that name, in any case; the empty name
// means base64.
func ParseEncoding(name string) (Encoding, error) {
	switch {
	case name == "" || strings.EqualFold(name, string(Base64)):
		return Base64, nil
	case strings.EqualFold(name, string(Verbatim)):
		return Verbatim, nil
	}
	return "", fmt.Errorf("message encoding %q: want base64 or none", name)
}

func (e Encoding) verbatim() bool { return strings.EqualFold(string(e), string(Verbatim)) }

// Encode returns the text for a body. Verbatim turns each byte that is not
// UTF-8 into U+FFFD, because a text cannot hold it.
func (e Encoding) Encode(body []byte) string {
	switch {
	case !e.verbatim():
		return base64.StdEncoding.EncodeToString(body)
	case utf8.Valid(body):
		return string(body)
	}
	return string([]rune(string(body)))
}

// Decode returns the body of a text. Base64 ignores spaces, tabs and line ends
// wherever they stand and wants padding, as the .NET decoder does; text that is
// not base64 gives an error that wraps ErrUndecodable. Empty text is an empty
// body. Verbatim never fails.
func (e Encoding) Decode(text string) ([]byte, error) {
	if e.verbatim() {
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

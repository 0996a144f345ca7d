package bindings

import (
	"strings"
	"unicode/utf8"
)

// Text decodes UTF-8 as .NET does: what is none of it becomes U+FFFD, one for each byte
// that cannot begin a character, and one for a character that breaks off, however many of
// its bytes there are.
//
// Source: .NET runtime, UTF8Encoding; Unicode 15, "U+FFFD Substitution of Maximal
// Subparts".
func Text(body []byte) string {
	if utf8.Valid(body) {
		return string(body)
	}
	var out strings.Builder
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		out.WriteRune(r)
		if r == utf8.RuneError && size == 1 {
			size = brokenOff(body)
		}
		body = body[size:]
	}
	return out.String()
}

// brokenOff is how many bytes at the beginning are one character that breaks off; 1 for a
// byte that begins none.
func brokenOff(body []byte) int {
	low, high, more := byte(0x80), byte(0xbf), 0
	switch b := body[0]; {
	case 0xc2 <= b && b <= 0xdf:
		more = 1
	case 0xe0 <= b && b <= 0xef:
		more = 2
		if b == 0xe0 {
			low = 0xa0 // what is below has a shorter form
		} else if b == 0xed {
			high = 0x9f // what is above is half a character
		}
	case 0xf0 <= b && b <= 0xf4:
		more = 3
		if b == 0xf0 {
			low = 0x90
		} else if b == 0xf4 {
			high = 0x8f // what is above is beyond Unicode
		}
	}
	n := 1
	for ; n <= more && n < len(body) && low <= body[n] && body[n] <= high; n++ {
		low, high = 0x80, 0xbf
	}
	return n
}

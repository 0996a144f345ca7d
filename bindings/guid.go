package bindings

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// formatGUID writes a GUID in one of .NET's forms: N, D (also the empty
// format), B, P or X, in any case.
func formatGUID(guid, format string) (string, error) {
	g, err := ParseGUID(guid)
	if err != nil {
		return "", err
	}
	d := g.String()
	switch strings.ToUpper(format) {
	case "", "D":
		return d, nil
	case "N":
		return hex.EncodeToString(g[:]), nil
	case "B":
		return "{" + d + "}", nil
	case "P":
		return "(" + d + ")", nil
	case "X":
		var tail []string
		for _, c := range g[8:] {
			tail = append(tail, fmt.Sprintf("0x%02x", c))
		}
		return fmt.Sprintf("{0x%x,0x%x,0x%x,{%s}}", g[:4], g[4:6], g[6:8], strings.Join(tail, ",")), nil
	}
	return "", fmt.Errorf("GUID format %q: want N, D, B, P or X", format)
}

// GUID is a universally unique identifier, with its bytes in the order in which
// they are printed (RFC 9562). AMQP delivery tags and .NET use another order;
// the AMQP server converts them.
type GUID [16]byte

// String returns the identifier in .NET's form D, in lower case.
func (g GUID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], g[0:4])
	hex.Encode(b[9:13], g[4:6])
	hex.Encode(b[14:18], g[6:8])
	hex.Encode(b[19:23], g[8:10])
	hex.Encode(b[24:36], g[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// ParseGUID reads an identifier in form D, with or without braces.
func ParseGUID(s string) (GUID, error) {
	t := strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
	if len(t) != 36 || t[8] != '-' || t[13] != '-' || t[18] != '-' || t[23] != '-' {
		return GUID{}, fmt.Errorf("%q is not a GUID", s)
	}
	b, err := hex.DecodeString(t[:8] + t[9:13] + t[14:18] + t[19:23] + t[24:])
	if err != nil {
		return GUID{}, fmt.Errorf("%q is not a GUID", s)
	}
	return GUID(b), nil
}

package odata

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
)

// Token writes a key as a continuation token: text that a header can hold.
func Token(key string) string {
	text := strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(key)), "=", "-")
	return "1!" + strconv.Itoa(len(text)) + "!" + text
}

// ParseToken reads a token.
func ParseToken(token string) (string, error) {
	length, text, ok := strings.Cut(strings.TrimPrefix(token, "1!"), "!")
	if n, err := strconv.Atoi(length); !ok || err != nil || n != len(text) || !strings.HasPrefix(token, "1!") {
		return "", table.NewError(storage.CodeInvalidInput)
	}
	key, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "-", "="))
	if err != nil || !utf8.Valid(key) {
		return "", table.NewError(storage.CodeInvalidInput)
	}
	return string(key), nil
}

// From reads where a query of entities goes on; nil at the beginning. Names of the query
// are in lower case.
func From(query url.Values) (*table.Key, error) {
	if !query.Has("nextpartitionkey") {
		if query.Has("nextrowkey") {
			return nil, table.NewError(storage.CodeInvalidInput)
		}
		return nil, nil
	}
	partition, err := ParseToken(query.Get("nextpartitionkey"))
	if err != nil {
		return nil, err
	}
	key := &table.Key{Partition: partition}
	if query.Has("nextrowkey") {
		if key.Row, err = ParseToken(query.Get("nextrowkey")); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// Top reads $top: 0 without one, in which case asked is false.
func Top(query url.Values) (n int, asked bool, err error) {
	if !query.Has("$top") {
		return 0, false, nil
	}
	n, err = strconv.Atoi(strings.TrimSpace(query.Get("$top")))
	if err != nil || n < 0 || n > table.MaxPage {
		return 0, true, table.NewError(storage.CodeInvalidInput)
	}
	return n, true, nil
}

// Select reads $select, in which a name counts once; nil asks for everything.
func Select(query url.Values) (names []string) {
	for name := range strings.SplitSeq(query.Get("$select"), ",") {
		switch name = strings.TrimSpace(name); name {
		case "":
		case "*":
			return nil
		default:
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// CheckQuery refuses what a query of OData can ask for and the service does not do.
func CheckQuery(query url.Values) error {
	if query.Has("$orderby") {
		return table.NewError(storage.CodeNotImplemented)
	}
	for _, name := range []string{"$skip", "$expand", "$inlinecount"} {
		if query.Has(name) {
			return table.NewError(storage.CodeInvalidInput)
		}
	}
	return nil
}

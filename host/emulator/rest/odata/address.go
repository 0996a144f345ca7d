// Package odata is the form of requests and answers of the Table service, apart from HTTP
// itself: addresses, content types, continuation tokens and the parts of a transaction.
// What entities look like is the contract's (bindings/table).
//
// Rules: spec tables 1, 2, 4.6 and 5.
package odata

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
)

// Address is what the path of a request names, behind the account.
type Address struct {
	Kind           Kind
	Table          string // of One, Rows and Row; as it is spelled
	Partition, Row string // of Row
}

// Kind is the kind of thing that an address names.
type Kind string

// The kinds.
const (
	Root   Kind = "service"
	Tables Kind = "tables"
	One    Kind = "table" // Tables('T')
	Rows   Kind = "entities"
	Row    Kind = "entity"
	Batch  Kind = "batch"
)

// Parse reads the path of an address, escaped, without a slash at its ends. What follows a
// table behind a slash is ignored (spec tables 2). Errors are *storage.Error.
func Parse(path string) (Address, error) {
	segment, _, _ := strings.Cut(path, "/")
	if open := strings.IndexByte(path, '('); open >= 0 && open < len(segment) {
		segment = path // a slash within parentheses is the key's
	}
	plain, err := url.PathUnescape(segment)
	if err != nil || !utf8.ValidString(plain) {
		return Address{}, table.NewError(table.CodeInvalidURI)
	}
	switch plain {
	case "":
		return Address{Kind: Root}, nil
	case "$batch":
		return Address{Kind: Batch}, nil
	}
	name, inner, keyed := strings.Cut(plain, "(")
	if !keyed {
		return named(name)
	}
	inner, closed := strings.CutSuffix(inner, ")")
	if !closed {
		return Address{}, badQuery()
	}
	a, err := named(name)
	if err != nil || strings.TrimSpace(inner) == "" {
		return a, err
	}
	return a.withKeys(inner)
}

// named is the address of a name alone.
func named(name string) (Address, error) {
	if strings.EqualFold(name, "Tables") {
		return Address{Kind: Tables}, nil
	}
	return Address{Kind: Rows, Table: name}, table.ValidateName(name)
}

// withKeys reads what stands in parentheses.
func (a Address) withKeys(inner string) (Address, error) {
	keys, rest := map[string]string{}, inner
	for {
		name, value, after, ok := key(rest)
		if !ok {
			return Address{}, badQuery()
		}
		if _, twice := keys[name]; twice {
			return Address{}, badQuery()
		}
		keys[name] = value
		if after == "" {
			break
		}
		if rest, ok = strings.CutPrefix(after, ","); !ok {
			return Address{}, badQuery()
		}
	}
	partition, hasPartition := keys["PartitionKey"]
	row, hasRow := keys["RowKey"]
	bare, isBare := keys[""]
	switch {
	case a.Kind == Tables && isBare && len(keys) == 1:
		return Address{Kind: One, Table: bare}, table.ValidateName(bare)
	case a.Kind == Rows && hasPartition && hasRow && len(keys) == 2:
		e := table.Entity{PartitionKey: partition, RowKey: row}
		if err := e.ValidateKeys(); storage.CodeOf(err) == table.CodeKeyValueTooLarge {
			return Address{}, err
		} else if err != nil {
			return Address{}, badQuery()
		}
		return Address{Kind: Row, Table: a.Table, Partition: partition, Row: row}, nil
	}
	return Address{}, table.Invalid("The number of keys specified in the URI does not match number of key properties for the resource '%s'.", a.Table)
}

// key reads one key: a literal of a text, with its name before it or alone.
func key(s string) (name, value, rest string, ok bool) {
	s = strings.TrimLeft(s, " ")
	if quote := strings.IndexByte(s, '\''); quote > 0 {
		before, assigned := strings.CutSuffix(strings.TrimRight(s[:quote], " "), "=")
		if !assigned {
			return "", "", "", false
		}
		name, s = strings.TrimSpace(before), s[quote:]
	}
	s, ok = strings.CutPrefix(s, "'")
	for ok {
		i := strings.IndexByte(s, '\'')
		if i < 0 {
			return "", "", "", false
		}
		value += s[:i]
		if s = s[i+1:]; !strings.HasPrefix(s, "'") {
			return name, value, strings.TrimLeft(s, " "), true
		}
		value += "'"
		s = s[1:]
	}
	return "", "", "", false
}

func badQuery() error { return table.Invalid("Bad Request - Error in query syntax.") }

package table

import (
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Value is the value of a property: a string, int32, int64, float64, bool, time.Time (in
// UTC, whole ticks), bindings.GUID or []byte. Nil is no value: a property that has it is
// as if it were absent.
type Value any

// Type is the name of a type of property, as annotations spell it.
type Type string

// The types (spec tables 2.1).
const (
	String   Type = "Edm.String"
	Int32    Type = "Edm.Int32"
	Int64    Type = "Edm.Int64"
	Boolean  Type = "Edm.Boolean"
	Double   Type = "Edm.Double"
	DateTime Type = "Edm.DateTime"
	GUID     Type = "Edm.Guid"
	Binary   Type = "Edm.Binary"
)

// TypeOf returns the type of a value, or the empty one for nil.
func TypeOf(v Value) Type {
	switch v.(type) {
	case string:
		return String
	case int32:
		return Int32
	case int64:
		return Int64
	case bool:
		return Boolean
	case float64:
		return Double
	case time.Time:
		return DateTime
	case bindings.GUID:
		return GUID
	case []byte:
		return Binary
	case nil:
		return ""
	}
	panic(fmt.Sprintf("table: a property cannot have a value of type %T", v))
}

// size is what a value takes of MaxEntity.
func size(v Value) int {
	switch v := v.(type) {
	case string:
		return 2*Units(v) + 4
	case []byte:
		return len(v) + 4
	case int32:
		return 4
	case bool:
		return 1
	case bindings.GUID:
		return 16
	}
	return 8
}

// Size is what an entity takes of MaxEntity (docs: "Understanding the Table service data
// model", spec tables 3.1).
func (e *Entity) Size() int {
	n := 4 + 2*(Units(e.PartitionKey)+Units(e.RowKey))
	for _, p := range e.Properties {
		n += 8 + 2*Units(p.Name) + size(p.Value)
	}
	return n
}

// ValidateKeys checks the keys of an entity that is to be written.
func (e *Entity) ValidateKeys() error {
	if err := validateKey(e.PartitionKey); err != nil {
		return err
	}
	return validateKey(e.RowKey)
}

// Validate checks an entity that is to be written, and an entity that a merge would make.
func (e *Entity) Validate() error {
	if err := e.ValidateKeys(); err != nil {
		return err
	}
	if len(e.Properties) > MaxProperties {
		return NewError(CodeTooManyProperties)
	}
	for _, p := range e.Properties {
		if err := validateProperty(p.Name); err != nil {
			return err
		}
		switch v := p.Value.(type) {
		case string:
			if len(v) > MaxText && Units(v) > MaxText {
				return NewError(CodePropertyValueTooLarge)
			}
		case []byte:
			if len(v) > MaxBinary {
				return NewError(CodePropertyValueTooLarge)
			}
		}
	}
	if e.Size() > MaxEntity {
		return NewError(CodeEntityTooLarge)
	}
	return nil
}

// FormatTime writes a date as the service does: in UTC, with a fraction only if there is
// one, of at most seven digits.
func FormatTime(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.9999999Z")
}

// earliest is the first date that the service keeps.
var earliest = time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC) // read only

// ParseTime reads a date: with a zone or in UTC, with up to seven digits of a fraction, of
// which more are cut off. A date that the service cannot keep fails with
// storage.CodeOutOfRangeInput.
func ParseTime(s string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if t = t.UTC().Truncate(Tick); t.Before(earliest) || t.Year() > 9999 {
			return time.Time{}, NewError(storage.CodeOutOfRangeInput)
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a date", s)
}

// ETag is the tag of an entity with that Timestamp.
func ETag(timestamp time.Time) string {
	return `W/"datetime'` + strings.ReplaceAll(FormatTime(timestamp), ":", "%3A") + `'"`
}

// ETag is the tag of the entity.
func (e *Entity) ETag() string { return ETag(e.Timestamp) }

// ValidETag reports whether a text has the form of a weak tag, as an entity has one; its first
// letter may be a small one (AZT: tests/table/apis/table.entity.issues.test.ts).
func ValidETag(tag string) bool {
	const open = `W/"`
	return len(tag) > len(open)+1 && strings.EqualFold(tag[:len(open)], open) && strings.HasSuffix(tag, `"`)
}

// SameETag compares tags, in which a colon may be escaped.
func SameETag(a, b string) bool { return colons.Replace(a) == colons.Replace(b) }

var colons = strings.NewReplacer("%3A", ":", "%3a", ":") // read only

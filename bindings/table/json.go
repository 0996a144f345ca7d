package table

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// Level is how much an answer says beside the values: the parameter odata of its content
// type.
type Level int

// The levels. Without types, Int64, DateTime, Guid and Binary are texts like others.
const (
	Minimal Level = iota // types where JSON has none, and tags
	None                 // the values
	Full                 // addresses too
	Types                // types as of Minimal, and neither tags nor the Timestamp: for people
)

var levelNames = [...]string{"minimalmetadata", "nometadata", "fullmetadata", "types"} // read only

func (l Level) String() string { return levelNames[l] }

// ParseLevel returns the level of that name, in any case.
func ParseLevel(name string) (Level, bool) {
	for l, n := range levelNames[:Types] {
		if strings.EqualFold(name, n) {
			return Level(l), true
		}
	}
	return Minimal, false
}

// Form is the JSON that an answer writes of entities (spec tables 2.1).
type Form struct {
	Level Level

	// Base is the address of the service without a slash at its end, Account its name and
	// Table the table's: for the addresses and types of Full.
	Base, Account, Table string

	// Select names the members to write, in this order; those that an entity lacks are
	// null. Empty: all.
	Select []string
}

// Append writes one entity. Metadata, if not empty, is its odata.metadata.
func (f *Form) Append(b []byte, e *Entity, metadata string) []byte {
	m := members{b: append(b, '{')}
	if f.Level != None && f.Level != Types {
		if metadata != "" {
			m.text("odata.metadata", metadata)
		}
		if f.Level == Full {
			address := Address(f.Table, e.PartitionKey, e.RowKey)
			m.text("odata.type", f.Account+"."+f.Table)
			m.text("odata.id", f.Base+"/"+address)
			m.text("odata.etag", e.ETag())
			m.text("odata.editLink", address)
		} else {
			m.text("odata.etag", e.ETag())
		}
	}
	if len(f.Select) > 0 {
		for _, name := range f.Select {
			f.property(&m, name, e.member(name))
		}
		return append(m.b, '}')
	}
	m.text("PartitionKey", e.PartitionKey)
	m.text("RowKey", e.RowKey)
	if f.Level != Types {
		f.property(&m, "Timestamp", e.Timestamp)
	}
	for _, p := range e.Properties {
		f.property(&m, p.Name, p.Value)
	}
	return append(m.b, '}')
}

// member returns a property, a key or the Timestamp.
func (e *Entity) member(name string) Value {
	switch name {
	case "PartitionKey":
		return e.PartitionKey
	case "RowKey":
		return e.RowKey
	case "Timestamp":
		return e.Timestamp
	}
	return e.Value(name)
}

// property writes a member, with its type before it where the level asks for it.
func (f *Form) property(m *members, name string, v Value) {
	if f.Level != None && annotated(v) && (name != "Timestamp" || f.Level == Full) {
		m.text(name+"@odata.type", string(TypeOf(v)))
	}
	m.name(name)
	m.b = AppendValue(m.b, v)
}

// annotated reports whether a reader could not tell the type of a value from its JSON.
func annotated(v Value) bool {
	switch v := v.(type) {
	case int64, time.Time, bindings.GUID, []byte:
		return true
	case float64:
		return math.IsNaN(v) || math.IsInf(v, 0)
	}
	return false
}

// AppendValue writes a value as the service's JSON has it.
func AppendValue(b []byte, v Value) []byte {
	switch v := v.(type) {
	case string:
		return appendText(b, v)
	case int32:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return append(strconv.AppendInt(append(b, '"'), v, 10), '"')
	case bool:
		return strconv.AppendBool(b, v)
	case float64:
		return appendDouble(b, v)
	case time.Time:
		return append(append(append(b, '"'), FormatTime(v)...), '"')
	case bindings.GUID:
		return append(append(append(b, '"'), v.String()...), '"')
	case []byte:
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), v), '"')
	}
	return append(b, "null"...)
}

func appendDouble(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return append(strconv.AppendFloat(b, v, 'f', -1, 64), ".0"...)
	case math.Abs(v) >= 1e15 || math.Abs(v) < 1e-4:
		return strconv.AppendFloat(b, v, 'E', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// appendText writes a text as JSON, without the escapes for HTML.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			text, err := json.Marshal(s)
			if err != nil {
				panic("table: a text that JSON does not have: " + err.Error())
			}
			return append(b, unescapeHTML.Replace(string(text))...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// unescapeHTML takes back what encoding/json escapes for pages. A backslash of the text
// itself is two, so that the pairs are taken as they come.
var unescapeHTML = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&") // read only

// Address is the address of an entity below its service.
func Address(table, partition, row string) string {
	return table + "(PartitionKey='" + escapeKey(partition) + "',RowKey='" + escapeKey(row) + "')"
}

// escapeKey writes a key as a literal of OData within an address.
func escapeKey(key string) string {
	return strings.ReplaceAll(url.QueryEscape(strings.ReplaceAll(key, "'", "''")), "+", "%20")
}

// members writes the members of an object.
type members struct {
	b    []byte
	more bool
}

func (m *members) name(name string) {
	if m.more {
		m.b = append(m.b, ',')
	}
	m.more = true
	m.b = append(appendText(m.b, name), ':')
}

func (m *members) text(name, value string) {
	m.name(name)
	m.b = appendText(m.b, value)
}

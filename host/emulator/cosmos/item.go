package cosmos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
)

// draft is a document as it was written.
type draft struct {
	id      string
	key     cosmos.Key
	content []byte // one JSON object without the service's properties
}

// itemName is the key of a document.
type itemName struct {
	key cosmos.Key
	id  string
}

func (d *draft) name() itemName { return itemName{d.key, d.id} }

// document is one document of a container.
type document struct {
	itemName
	content  []byte
	rid      string
	etag     string
	lsn      uint64
	modified time.Time
	of       *container
	in       *feedRange
	deleted  bool
}

// isSystem reports whether the service owns a property.
func isSystem(name string) bool {
	switch name {
	case "_rid", "_self", "_etag", "_attachments", "_ts", "_lsn":
		return true
	}
	return false
}

// parseDraft reads a document for a container with that partition key.
func parseDraft(text []byte, path []string) (*draft, error) {
	if len(text) > cosmos.MaxItem {
		return nil, fmt.Errorf("document: %w: %d bytes, at most %d are possible", bindings.ErrTooLarge, len(text), cosmos.MaxItem)
	}
	d := &draft{}
	found := false
	var top json.RawMessage // in which the partition key is
	var out bytes.Buffer
	out.WriteByte('{')
	err := eachProperty(text, func(name string, value json.RawMessage) error {
		if isSystem(name) {
			return nil
		}
		if name == "id" {
			if found || json.Unmarshal(value, &d.id) != nil || value[0] != '"' || !validName(d.id) {
				return invalid(`the property "id" must be one text of 1 to 255 characters without / \ # ?`)
			}
			found = true
		}
		if name == path[0] {
			top = value
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return invalid("%v", err)
		}
		out.Write(quoted)
		out.WriteByte(':')
		return json.Compact(&out, value)
	})
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, invalid(`the property "id" is missing`)
	}
	out.WriteByte('}')
	d.content = out.Bytes()
	d.key, err = keyOf(top, path)
	return d, err
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("document: %w: %s", bindings.ErrInvalidArgument, fmt.Sprintf(format, args...))
}

// eachProperty calls f for the properties of a JSON object, in their order.
func eachProperty(text []byte, f func(name string, value json.RawMessage) error) error {
	if !json.Valid(text) {
		var v any
		return invalid("it is not JSON: %v", json.Unmarshal(text, &v))
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return invalid("it is not a JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return invalid("%v", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return invalid("%v", err)
		}
		if err := f(name.(string), value); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil && err != io.EOF {
		return invalid("%v", err)
	}
	return nil
}

// keyPath is a partition key's path in its parts.
func keyPath(path string) ([]string, bool) {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok || rest == "" {
		return nil, false
	}
	parts := strings.Split(rest, "/")
	for _, p := range parts {
		if p == "" {
			return nil, false
		}
	}
	return parts, true
}

// keyOf is the value at a path, of which the first part led to value; nil: to
// nothing. Objects and arrays are no keys.
func keyOf(value json.RawMessage, path []string) (cosmos.Key, error) {
	if value == nil {
		return "", nil
	}
	for _, name := range path[1:] {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return "", nil
		}
		var ok bool
		if value, ok = object[name]; !ok {
			return "", nil
		}
	}
	switch value[0] {
	case '{', '[':
		return "", invalid("the partition key at /%s must be a text, a number, a boolean or null", strings.Join(path, "/"))
	case '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return "", invalid("%v", err)
		}
		return cosmos.KeyText(s), nil
	case 't', 'f', 'n':
		return cosmos.Key(value), nil
	}
	var n float64 // 1 and 1.0 are one key
	if err := json.Unmarshal(value, &n); err != nil {
		return "", invalid("%v", err)
	}
	text, err := json.Marshal(n)
	return cosmos.Key(text), err
}

// item is a document as it is returned; in a feed also with its LSN.
func (d *document) item(feed bool) *cosmos.Item {
	b := bytes.NewBuffer(make([]byte, 0, len(d.content)+160))
	b.Write(d.content[:len(d.content)-1])
	fmt.Fprintf(b, `,"_rid":%q,"_self":%q,"_etag":%q,"_attachments":"attachments/","_ts":%d`,
		d.rid, "dbs/"+d.of.info.DatabaseRID+"/colls/"+d.of.info.RID+"/docs/"+d.rid+"/", d.etag, d.modified.Unix())
	if feed {
		fmt.Fprintf(b, `,"_lsn":%d`, d.lsn)
	}
	b.WriteByte('}')
	return &cosmos.Item{ID: d.id, Key: d.key, ETag: d.etag, Modified: d.modified, Body: b.Bytes()}
}

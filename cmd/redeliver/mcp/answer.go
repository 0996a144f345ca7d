package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// An assistant pays for each word that it reads: bodies and answers are cut.
const (
	// MaxText is how much of one text is shown, of a message's body for instance, in bytes.
	MaxText = 4 << 10
	// MaxAnswer is the longest text of an answer, and the longest JSON, in bytes.
	MaxAnswer = 64 << 10
)

// A Room is what an answer has left of MaxAnswer, for text and for JSON, when its parts are
// gathered one by one: the latest first, of what would be too much.
type Room struct{ text, data int }

// NewRoom is the room of an answer, without some for what stands around its parts.
func NewRoom() *Room { return &Room{MaxAnswer - 1024, MaxAnswer - 1024} }

// Takes reports whether there is room for one more part, and takes it. The first part has
// room however long it is.
func (r *Room) Takes(text string, data any) bool {
	raw, _ := json.Marshal(data) // what does not marshal takes nothing
	first := *r == *NewRoom()
	r.text -= len(text) + 1
	r.data -= len(raw) + 1
	return first || r.text >= 0 && r.data >= 0
}

// Shorten cuts texts and bytes below v, a pointer, that are longer than MaxText.
func Shorten(v any) { shorten(reflect.ValueOf(v)) }

func shorten(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			shorten(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			inner := reflect.New(v.Elem().Type()).Elem()
			inner.Set(v.Elem())
			shorten(inner)
			v.Set(inner)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				shorten(v.Field(i))
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			shorten(value)
			v.SetMapIndex(key, value)
		}
	case reflect.Slice:
		shortenSlice(v)
	case reflect.String:
		if v.CanSet() && v.Len() > MaxText {
			v.SetString(cut(v.String(), MaxText))
		}
	}
}

// shortenSlice cuts bytes, and JSON that is kept as it came, which becomes a text.
func shortenSlice(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		if v.Len() > MaxText {
			v.SetBytes(shortJSON(v.Bytes()))
		}
	case v.Type().Elem().Kind() == reflect.Uint8:
		if v.CanSet() && v.Len() > MaxText {
			v.SetBytes(v.Bytes()[:MaxText])
		}
	default:
		for i := range v.Len() {
			shorten(v.Index(i))
		}
	}
}

// shortJSON is JSON whose texts are cut, or, where that is not enough, its beginning as a
// text.
func shortJSON(raw []byte) []byte {
	value := decoded(raw)
	shorten(reflect.ValueOf(&value))
	short, err := json.Marshal(value)
	if err != nil || len(short) > 4*MaxText {
		short, _ = json.Marshal(cut(string(raw), MaxText)) // a text always marshals
	}
	return short
}

// cut is the beginning of a text, with what was cut off.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s... (the first %d of %d bytes)", text[:end], end, len(text))
}

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
	case v.Type() == reflect.TypeFor[json.RawMessage]() && v.Len() > MaxText:
		short, _ := json.Marshal(cut(string(v.Bytes()), MaxText)) // a text always marshals
		v.SetBytes(short)
	case v.Type().Elem().Kind() == reflect.Uint8:
		if v.CanSet() && v.Len() > MaxText && v.Type() != reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(v.Bytes()[:MaxText])
		}
	default:
		for i := range v.Len() {
			shorten(v.Index(i))
		}
	}
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

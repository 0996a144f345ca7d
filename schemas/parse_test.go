package schemas_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/redeliver/redeliver/schemas"
)

func parse(t *testing.T, file, text string) *schemas.Document {
	t.Helper()
	d, fault := schemas.Parse(file, []byte(text))
	if fault != nil {
		t.Fatalf("Parse(%q): %v", text, fault)
	}
	return d
}

// TestParseLenient: what the platform's parser forgives, ours forgives.
// Source: spec host-and-retry 5.1 and the defaults of Newtonsoft.Json.
func TestParseLenient(t *testing.T) {
	t.Parallel()
	utf16LE := []byte{0xff, 0xfe}
	utf16BE := []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(`{"a":"ü😀"}`)) {
		utf16LE = append(utf16LE, byte(u), byte(u>>8))
		utf16BE = append(utf16BE, byte(u>>8), byte(u))
	}
	for name, c := range map[string]struct{ text, want string }{
		"strict":                          {`{"a":[1,-0.5e+3,true,false,null,"x"],"b":{}}`, `{"a":[1,-0.5e+3,true,false,null,"x"],"b":{}}`},
		"line comment":                    {"// first\n{\"a\":1 // one\n}// last", `{"a":1}`},
		"block comment":                   {"/**/{/* a\n*/\"a\"/**/:/**/1/**/,/**/}/* end */", `{"a":1}`},
		"comment marks in text":           {`{"a":"// no /* no */"}`, `{"a":"// no /* no */"}`},
		"trailing commas":                 {`{"a":[1,2,],"b":{"c":1,},}`, `{"a":[1,2],"b":{"c":1}}`},
		"single quotes":                   {`{'a':'say "hi"','b':'it\'s'}`, `{"a":"say \"hi\"","b":"it's"}`},
		"names without quotes":            {`{a:1,$b_2:2,größe:3}`, `{"a":1,"$b_2":2,"größe":3}`},
		"byte order mark":                 {"\ufeff{\"a\":1}", `{"a":1}`},
		"utf-16 little endian":            {string(utf16LE), `{"a":"ü😀"}`},
		"utf-16 big endian":               {string(utf16BE), `{"a":"ü😀"}`},
		"duplicates":                      {`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		"escapes":                         {`{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`, `{"a":"\"\\/\b\f\n\r\té😀"}`},
		"lone surrogate":                  {`{"a":"\ud83dx"}`, `{"a":"�x"}`},
		"tab in a string":                 {"{\"a\":\"x\ty\"}", `{"a":"x\ty"}`},
		"no object":                       {` [1] `, `[1]`},
		"white space of others":           {"\u00a0{\u2003}\v", `{}`},
		"key without text":                {`{"":1}`, `{"":1}`},
		"html is not escaped differently": {`{"a":"<&>"}`, `{"a":"\u003c\u0026\u003e"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := string(parse(t, "a.json", c.text).JSON())
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("JSON of %q (-got +want)\n%s", c.text, diff)
			}
		})
	}
}

// TestParseFaults: the first error, its position, what was found and expected.
func TestParseFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"empty":                 {"", `a.json:1:1: the file is empty; allowed: a JSON object`},
		"only a comment":        {"// x\n", `a.json:2:1: the file is empty; allowed: a JSON object`},
		"missing colon":         {"{\n  \"a\" 1\n}", `a.json:2:7: found "1": not valid JSON; allowed: ":" after the property name "a"`},
		"missing comma":         {"{\n  \"a\": 1\n  \"b\": 2\n}", `a.json:3:3: found "\"": not valid JSON; allowed: "," or "}"`},
		"missing comma in list": {"[1 2]", `a.json:1:4: found "2": not valid JSON; allowed: "," or "]"`},
		"missing value":         {`{"a":}`, `a.json:1:6: found "}": not valid JSON; allowed: a value for "a"`},
		"missing name":          {`{,}`, `a.json:1:2: found ",": not valid JSON; allowed: a property name or "}"`},
		"empty item":            {`[1,,2]`, `a.json:1:4: found ",": not valid JSON; allowed: a value or "]"`},
		"object not closed":     {"{\n \"a\": {\n", `a.json:3:1: found the end of the file: not valid JSON; allowed: a property name or "}" to close the object that begins at 2:7`},
		"list not closed":       {"[1,\n2", `a.json:2:2: found the end of the file: not valid JSON; allowed: "," or "]" to close the list that begins at 1:1`},
		"wrong bracket":         {`{"a":[1}`, `a.json:1:8: found "}": not valid JSON; allowed: "," or "]"`},
		"text after the end":    {"{} x", `a.json:1:4: found "x": not valid JSON; allowed: nothing after the end of the JSON text`},
		"bare word":             {`{"a": yes}`, `a.json:1:7: found "yes": not valid JSON; allowed: a value for "a"`},
		"word in capitals":      {`{"a": True}`, `a.json:1:7: found "True": not valid JSON; allowed: a value for "a"`},
		"not a number":          {`{"a": 1.}`, `a.json:1:7: found "1.": not a number; allowed: digits, with or without a point and an exponent, such as 5, -1 or 0.8`},
		"octal number":          {`[010]`, `a.json:1:2: found "010": not a number; allowed: digits, with or without a point and an exponent, such as 5, -1 or 0.8`},
		"hexadecimal number":    {`[0x1F]`, `a.json:1:2: found "0x1F": not a number; allowed: digits, with or without a point and an exponent, such as 5, -1 or 0.8`},
		"huge exponent":         {`[1e999999999]`, `a.json:1:2: found "1e999999999": not a number; allowed: digits, with or without a point and an exponent, such as 5, -1 or 0.8`},
		"NaN":                   {`[NaN]`, `a.json:1:2: found "NaN": not valid JSON; allowed: a value or "]"`},
		"string not closed":     {"{\"a\": \"b\n}", `a.json:1:7: found "\"b": not valid JSON: a string is not closed; allowed: a closing quote on the same line`},
		"string at the end":     {`["b`, `a.json:1:2: found "\"b": not valid JSON: a string is not closed; allowed: a closing quote on the same line`},
		"unknown escape":        {`{"a": "C:\dir"}`, `a.json:1:10: found "\\d": not valid JSON: unknown escape in a string; allowed: \" \' \\ \/ \b \f \n \r \t or \u and four hexadecimal digits`},
		"short unicode escape":  {`["\u12"]`, `a.json:1:3: found "\\u": not valid JSON: unknown escape in a string; allowed: \" \' \\ \/ \b \f \n \r \t or \u and four hexadecimal digits`},
		"comment not closed":    {"{} /* x", `a.json:1:4: found "/*": a comment is not closed; allowed: "*/" after it`},
		"one slash":             {"{} / x", `a.json:1:4: found "/": not valid JSON; allowed: nothing after the end of the JSON text`},
		"not utf-8":             {"{\n\"a\": \"\xff\"}", `a.json:2:7: found byte 0xff: the file is not text in UTF-8; allowed: text in UTF-8`},
		"column in characters":  {`{"ü😀": x}`, `a.json:1:8: found "x": not valid JSON; allowed: a value for "ü😀"`},
		"windows line ends":     {"{\r\n\r\n  x y}", `a.json:3:5: found "y": not valid JSON; allowed: ":" after the property name "x"`},
		"old line ends":         {"{\r\r  x y}", `a.json:3:5: found "y": not valid JSON; allowed: ":" after the property name "x"`},
		"nested too deeply":     {strings.Repeat("[", 65), `a.json:1:65: found "[": the text is nested too deeply; allowed: at most 64 levels`},
		"too large":             {strings.Repeat(" ", schemas.MaxSize+1), `a.json:1:1: found 4194305 bytes: the file is too large; allowed: at most 4194304 bytes`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, fault := schemas.Parse("a.json", []byte(c.text))
			if fault == nil {
				t.Fatalf("Parse(%q) = %s, want %s", c.text, d.JSON(), c.want)
			}
			if diff := cmp.Diff(fault.Error(), c.want); diff != "" {
				t.Errorf("Parse(%q) (-got +want)\n%s", c.text, diff)
			}
			if fault.Kind != schemas.KindJSON || !fault.First {
				t.Errorf("kind %q, first %v; want %q, true", fault.Kind, fault.First, schemas.KindJSON)
			}
		})
	}
}

// TestParseKind: an unreadable host.json is a format error on the platform, any
// other file a JSON error (spec host-and-retry 6.1, 5.4).
func TestParseKind(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]schemas.Kind{
		"host.json": schemas.KindFormat, "app/Host.json": schemas.KindFormat, "Orders/function.json": schemas.KindJSON, "local.settings.json": schemas.KindJSON,
	} {
		if _, fault := schemas.Parse(file, []byte("{")); fault == nil || fault.Kind != want {
			t.Errorf("Parse(%s) = %v, want kind %q", file, fault, want)
		}
	}
}

// FuzzParse: nothing panics. A document is written as strict JSON of the same
// value; every text that encoding/json accepts is accepted; positions lie
// inside the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{typicalFunction, `{'a':[1,],b:/**/null}`, "{\"a\":\"\\ud83d\\ude00\"}", "\ufeff[]", "[[[", "{\"a\"\r\n:1e5}", `"x`, "\xff\xfe{\x00}\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, fault := schemas.Parse("a.json", text)
		if fault != nil {
			if fault.Line < 1 || fault.Column < 1 || fault.Reason == "" {
				t.Errorf("fault without position or reason: %#v", fault)
			}
			// Big numbers and deep nesting are refused here; encoding/json sees
			// no harm in either.
			if json.Valid(text) && fault.Reason == "not valid JSON" {
				t.Errorf("Parse(%q) = %v, but it is strict JSON", text, fault)
			}
			return
		}
		strict := d.JSON()
		if !json.Valid(strict) {
			t.Fatalf("Parse(%q).JSON() = %q, which is not JSON", text, strict)
		}
		again := parse(t, "a.json", string(strict))
		if diff := cmp.Diff(again.Value(), d.Value()); diff != "" {
			t.Errorf("JSON() changed the value (-got +want)\n%s", diff)
		}
	})
}

// FuzzValidate: no content makes the checks panic, every fault has a reason and stands in
// the text, and the canonical content is its own canonical content.
func FuzzValidate(f *testing.F) {
	for _, text := range samples(f) {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"version":{"0":1},"VERSION":null,"retry":[],"Retry":{"maxRetryCount":1e300},"functions":{"1":"b","0":null},"a/b~c%":{}}`))
	f.Add([]byte(`{"ConnectionStrings":{"":{"ConnectionString":[]}},"functions":{"":{"trigger":[]}},"then":{"":{"":1}},"":{"":[]}}`))
	f.Add([]byte(`{"bindings":{"0":{"type":"queue"}},"bindings":[{"type":"QUEUE","Type":"http","name":null},null,[[]]],"redeliver":{"circuitBreaker":5}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, fault := schemas.Parse("a.json", text)
		if fault != nil {
			return
		}
		for _, name := range schemas.Names() {
			for _, fault := range d.Validate(name) {
				if fault.Reason == "" || fault.Line < 1 || fault.Column < 1 {
					t.Errorf("%s: fault without position or reason: %#v", name, fault)
				}
			}
			d.Misspelt(name)
			d.Unknown(name)
			d.Misshapen(name)
			d.WithoutEffect(name)
			canonical := d.Canonical(name)
			text, err := json.Marshal(canonical)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parse(t, "a.json", string(text)).Canonical(name), canonical); diff != "" {
				t.Errorf("%s: the canonical content of %s has another one (-got +want)\n%s", name, text, diff)
			}
		}
	})
}

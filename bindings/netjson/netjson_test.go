package netjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/redeliver/redeliver/bindings/netjson"
)

// Values and their texts as the platform's host 4.1037 writes them.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want, compact string }{
		{`null`, "", "null"}, {`  `, "", "null"}, {`undefined`, "", "undefined"}, {`true`, "True", "true"}, {`false`, "False", "false"},
		{`5`, "5", "5"}, {`-5`, "-5", "-5"}, {`007`, "7", "7"}, {`0x1F`, "31", "31"}, {`.5`, "0.5", "0.5"}, {`5.`, "5", "5.0"}, {`/*c*/5 // d`, "5", "5"},
		{`9223372036854775808`, "9223372036854775808", "9223372036854775808"},
		{`1.0`, "1", "1.0"}, {`-0.0`, "-0", "-0.0"}, {`1.10`, "1.1", "1.1"}, {`1e3`, "1000", "1000.0"}, {`1e16`, "10000000000000000", "10000000000000000.0"},
		{`1e17`, "1E+17", "1E+17"}, {`12345678901234567.0`, "12345678901234568", "12345678901234568.0"}, {`0.0001`, "0.0001", "0.0001"},
		{`0.00001`, "1E-05", "1E-05"}, {`-1.5e-10`, "-1.5E-10", "-1.5E-10"}, {`1.7976931348623157e308`, "1.7976931348623157E+308", "1.7976931348623157E+308"},
		{`5e-324`, "5E-324", "5E-324"}, {`1e999`, "Infinity", `"Infinity"`}, {`NaN`, "NaN", `"NaN"`}, {`-Infinity`, "-Infinity", `"-Infinity"`},
		{`"a\u00e4\ud83d\ude00\"\/"`, `aä😀"/`, `"aä😀\"/"`}, {`'x'`, "x", `"x"`}, {"\"\\u2028\\u0085\\u0001\\t\"", "\u2028\u0085\u0001\t", `"\u2028\u0085\u0001\t"`},
		{`"2020-01-02T03:04:05Z"`, "01/02/2020 03:04:05", `"2020-01-02T03:04:05Z"`}, {`"2020-01-02T03:04:05.1200000"`, "01/02/2020 03:04:05", `"2020-01-02T03:04:05.12"`},
		{`"2020-01-02T03:04:05+05:30"`, "01/01/2020 21:34:05", `"2020-01-01T21:34:05+00:00"`}, {`"2020-01-02T03:04:05+0530"`, "01/01/2020 21:34:05", `"2020-01-01T21:34:05+00:00"`},
		{`"/Date(0)/"`, "01/01/1970 00:00:00", `"1970-01-01T00:00:00Z"`}, {`"2020-01-02"`, "2020-01-02", `"2020-01-02"`}, {`"2020-01-02T03:04"`, "2020-01-02T03:04", `"2020-01-02T03:04"`},
		{`"2020-13-02T03:04:05Z"`, "2020-13-02T03:04:05Z", `"2020-13-02T03:04:05Z"`},
		{`[]`, "[]", "[]"}, {`{}`, "{}", "{}"}, {`[1,]`, "[\n  1\n]", "[1]"}, {`[[], {}]`, "[\n  [],\n  {}\n]", "[[],{}]"},
		{`[1,,undefined]`, "[\n  1,\n  undefined,\n  undefined\n]", "[1,undefined,undefined]"}, {`{a:,}`, "{\n  \"a\": undefined\n}", `{"a":undefined}`},
		{`[new X(1,[])]`, "[\n  new X(\n    1,\n    []\n  )\n]", "[new X(1,[])]"}, {`[1,new X()]`, "[\n  1,\n  new X(\n  )\n]", "[1,new X()]"},
		{`{a:1, 'b':{"c":[null]}, "a":2}`, "{\n  \"b\": {\n    \"c\": [\n      null\n    ]\n  },\n  \"a\": 2\n}", `{"b":{"c":[null]},"a":2}`},
	} {
		v, err := netjson.Parse(tt.text, time.UTC)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := netjson.Text(v); got != tt.want {
			t.Errorf("%s: text %q, want %q", tt.text, got, tt.want)
		}
		if got := netjson.Compact(v); got != tt.compact {
			t.Errorf("%s: JSON %s, want %s", tt.text, got, tt.compact)
		}
	}
	if v, err := netjson.Parse(`"2020-01-02T03:04:05Z"`, nil); err != nil || v != "2020-01-02T03:04:05Z" {
		t.Errorf("a date that is none: %v, %v", v, err)
	}
}

// What reads the JSON of a value elsewhere gets strict JSON, written as the platform's library
// writes it: dates in their zone, doubles with a point, text for what is not finite.
func TestStrict(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{ 'x' : 1.0, y:[1,2,], /* c */ "z": "a<b" }`:                `{"x":1.0,"y":[1,2],"z":"a<b"}`,
		`{"d":"2020-07-02T03:04:05Z"}`:                               `{"d":"2020-07-02T03:04:05Z"}`,
		`{"d":"2020-07-02T03:04:05+02:00"}`:                          `{"d":"2020-07-01T21:04:05-04:00"}`,
		`{"d":"2020-07-02T03:04:05.120"}`:                            `{"d":"2020-07-02T03:04:05.12"}`,
		`{"d":"/Date(1577934245000)/"}`:                              `{"d":"2020-01-02T03:04:05Z"}`,
		`{"a":1e16,"b":1e17,"c":1e400,"d":NaN,"e":0x1F,"f":010}`:     `{"a":10000000000000000.0,"b":1E+17,"c":"Infinity","d":"NaN","e":31,"f":8}`,
		`{"a":undefined,"b":,"c":new Date(1,2),"d":null,"e":[true]}`: `{"a":null,"b":null,"c":null,"d":null,"e":[true]}`,
		`{"a":{"x":1,"x":2,"X":3}}`:                                  `{"a":{"x":2,"X":3}}`,
	} {
		v, err := netjson.Parse(in, zone)
		if got := netjson.Strict(v); err != nil || got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s is given on as %s, %v, want %s", in, got, err, want)
		}
	}
}

func TestNoValues(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`abc`, `12abc`, `+5`, `-`, `tru`, `True`, `{} x`, `1,2`, `{"a":1}{}`, `{`, `[`, `[1`, `{"a"`, `{"a":`, `{"a":1`, `{1a b:2}`, `{:1}`, `"a`, `'a"`, `"\x"`, `"\u12"`,
		`09`, `0x`, `/* 1`, `1 2`, `1.2.3`, strings.Repeat("[", 65), strings.Repeat(`{"a":`, 65),
	} {
		if v, err := netjson.Parse(text, time.UTC); err == nil {
			t.Errorf("%s was read as %v", text, v)
		}
	}
}

// A date that .NET does not have is an error of its own: the platform fails where other text
// would not be JSON.
func TestDatesBeyond(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"9999-12-31T24:00:00Z"`, `{"a":["/Date(253402300800000)/"]}`, `"/Date(-62135596800001)/"`} {
		if v, err := netjson.Parse(text, time.UTC); !errors.Is(err, netjson.ErrDate) {
			t.Errorf("%s was read as %v, %v", text, v, err)
		}
	}
}

// Whatever is read can be written and read again as the same.
func FuzzParse(f *testing.F) {
	f.Add(`{"a":[1,-2.5e7,"x\u00e4",null,{"b":'2020-01-02T03:04:05Z'}], c:NaN}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := netjson.Parse(text, nil)
		if err != nil {
			return
		}
		once := netjson.Compact(v)
		again, err := netjson.Parse(netjson.Indented(v), nil)
		if err != nil {
			t.Fatalf("%q became %s: %v", text, once, err)
		}
		if got := netjson.Compact(again); got != once {
			t.Errorf("%q became %s, then %s", text, once, got)
		}
	})
}

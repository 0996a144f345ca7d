package bindings

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
)

// What the platform's host 4.1037 made of a member of a queue message in the path of a
// blob output, for each text of testdata/bindingdata.tsv. The host ran on .NET 10, whose
// doubles have no exponent below 1E+17.
func TestBindingDataOfThePlatform(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/bindingdata.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 4 {
			t.Fatalf("line %d: %d cells", i+2, len(cells))
		}
		var message string
		var want *string
		zone, err := time.LoadLocation(cells[0])
		for cell, to := range map[string]any{cells[2]: &message, cells[3]: &want} {
			if err == nil {
				err = json.Unmarshal([]byte(cell), to)
			}
		}
		if err != nil {
			t.Fatalf("line %d: %v", i+2, err)
		}
		template, err := ParseTemplate(cells[1])
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]any{}
		applyJSON(values, []byte(message), zone)
		text, err := template.Resolve(&BindingData{Values: values, zone: zone})
		got := &text
		if err != nil {
			got = nil
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("line %d: %s of %s in %s (-got +want):\n%s", i+2, cells[1], cells[2], cells[0], diff)
		}
	}
}

// An object of a message is given on as strict JSON, written as the platform's library
// writes it: dates in their zone, doubles with a point, text for what is not finite.
func TestNetRaw(t *testing.T) {
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
		v, err := readNetObject(in, zone)
		if err != nil || v.raw != want || !json.Valid([]byte(v.raw)) {
			t.Errorf("%s is given on as %s, %v, want %s", in, v.raw, err, want)
		}
	}
}

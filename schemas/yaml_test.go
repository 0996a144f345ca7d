package schemas_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/schemas"
)

// A value of a YAML file is the value that its JSON form has, at its place.
func TestParseYAML(t *testing.T) {
	docs, fault := schemas.ParseYAML("a.yaml", []byte("\ufeff# first\nbase: &base {x: 1, y: 0x10}\nitem: {<<: *base, y: yes, t: 2030-01-01}\nü: [null, ~, true, .inf, 1.5, '7', \"a\\nb\"]\n---\n---\nsecond: 1\n"))
	if fault != nil {
		t.Fatal(fault)
	}
	var got []string
	for _, d := range docs {
		got = append(got, string(d.JSON()))
	}
	want := []string{
		`{"base":{"x":1,"y":16},"item":{"x":1,"y":"yes","t":"2030-01-01"},"ü":[null,null,true,".inf",1.5,"7","a\nb"]}`,
		`{"second":1}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if line, col := docs[0].Pos("ü[4]"); line != 4 || col != 26 {
		t.Errorf("ü[4] stands at %d:%d, want 4:26", line, col)
	}
}

// A number keeps its digits, so that a text made of it is the one that was written.
func TestParseYAMLNumbers(t *testing.T) {
	docs, fault := schemas.ParseYAML("a.yaml", []byte("[1.10, 1e3, -0, 12345678901234567890123, 18446744073709551616, 0x10, 0o17, +1, .5, 1_000, 0, 0.5, 10]"))
	if fault != nil {
		t.Fatal(fault)
	}
	want := `[1.10,1e3,-0,12345678901234567890123,18446744073709551616,16,15,1,0.5,"1_000",0,0.5,10]`
	if got := string(docs[0].JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestParseYAMLRefuses(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for _, c := range "bcdefgh" {
		prev := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+prev+",", 10), ",") + "]\n"
	}
	for _, test := range []struct{ name, text, want string }{
		{"syntax", "a: [1\nb: 2\n", "a.yaml:1:1: the file is not YAML"},
		{"tab", "a:\n\tb: 1\n", "a.yaml:2:1: the file is not YAML"},
		{"twice", "a: 1\na: 2\n", `a.yaml:2:1: found "a": the key stands here twice`},
		{"octal", "a: [1, -010]\n", "a.yaml:1:8: found -010: a number that begins with 0"},
		{"key", "[1]: 2\n", "a.yaml:1:1: a key must be text; allowed: text"},
		{"merge", "a: 1\n<<: 7\n", "a.yaml:2:5: found 7: this cannot be merged"},
		{"aliases", bomb, "the file has too many values"},
		{"itself", "a: &a [*a]\n", "a.yaml:1:"},
		{"deep", strings.Repeat("[", 70) + strings.Repeat("]", 70), "nested too deep"},
		{"large", strings.Repeat("#", schemas.MaxSize+1), "the file is too large"},
		{"bytes", "a: \xff\n", "the file is not text in UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			docs, fault := schemas.ParseYAML("a.yaml", []byte(test.text))
			if fault == nil {
				t.Fatalf("read %d documents, want a fault", len(docs))
			}
			if !strings.Contains(fault.Error(), test.want) {
				t.Errorf("fault %q, want %q in it", fault.Error(), test.want)
			}
		})
	}
}

package bindings_test

import (
	"errors"
	"testing"

	"github.com/redeliver/redeliver/bindings"
)

func TestEncodingDecode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		encoding bindings.Encoding
		text     string
		want     string
		fails    bool
	}{
		{"base64", bindings.Base64, "eyJpZCI6IjcifQ==", `{"id":"7"}`, false},
		{"base64 with white space", bindings.Base64, " eyJp\tZCI6\r\nIjcifQ= =\n", `{"id":"7"}`, false},
		{"plain text that is valid base64", bindings.Base64, "test", "\xb5\xeb\x2d", false},
		{"plain text", bindings.Base64, `{"id":"7"}`, "", true},
		{"missing padding", bindings.Base64, "eyJpZCI6IjcifQ", "", true},
		{"url alphabet", bindings.Base64, "-_-_", "", true},
		{"other white space", bindings.Base64, "dGVz\u00a0dA==", "", true},
		{"text after padding", bindings.Base64, "dA==dA==", "", true},
		{"empty", bindings.Base64, "", "", false},
		{"only white space", bindings.Base64, " \n", "", false},
		{"none", bindings.Verbatim, "grüße", "grüße", false},
		{"none keeps white space", bindings.Verbatim, " a\n", " a\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.encoding.Decode(tt.text)
			if tt.fails {
				if !errors.Is(err, bindings.ErrUndecodable) {
					t.Errorf("Decode(%q) = %q, %v, want ErrUndecodable", tt.text, got, err)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("Decode(%q) = %q, %v, want %q", tt.text, got, err, tt.want)
			}
		})
	}
}

func TestEncodingEncode(t *testing.T) {
	t.Parallel()
	if got, want := bindings.Base64.Encode([]byte("\xff\x00")), "/wA="; got != want {
		t.Errorf("Base64.Encode = %q, want %q", got, want)
	}
	if got, want := bindings.Verbatim.Encode([]byte("ü\xff\xff")), "ü\uFFFD\uFFFD"; got != want {
		t.Errorf("Verbatim.Encode = %q, want %q", got, want)
	}
}

func TestParseEncoding(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bindings.Encoding{"": bindings.Base64, "Base64": bindings.Base64, "NONE": bindings.Verbatim} {
		if got, err := bindings.ParseEncoding(name); got != want || err != nil {
			t.Errorf("ParseEncoding(%q) = %v, %v, want %v", name, got, err, want)
		}
	}
	if _, err := bindings.ParseEncoding("utf8"); err == nil {
		t.Error(`ParseEncoding("utf8") succeeded, want an error`)
	}
}

func FuzzEncoding(f *testing.F) {
	f.Add([]byte("hello"), "aGVsbG8=")
	f.Add([]byte{0xff, 0}, " a\n")
	f.Fuzz(func(t *testing.T, body []byte, text string) {
		got, err := bindings.Base64.Decode(bindings.Base64.Encode(body))
		if err != nil || string(got) != string(body) {
			t.Errorf("base64 of %q came back as %q, %v", body, got, err)
		}
		if got, err := bindings.Verbatim.Decode(text); err != nil || string(got) != text {
			t.Errorf("text %q came back as %q, %v", text, got, err)
		}
		if got, err := bindings.Base64.Decode(text); err != nil && (got != nil || !errors.Is(err, bindings.ErrUndecodable)) {
			t.Errorf("Decode(%q) = %q, %v", text, got, err)
		}
	})
}

package queue_test

import (
	"errors"
	"testing"

	"github.com/redeliver/redeliver/bindings/queue"
)

func TestEncodingDecode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		encoding queue.Encoding
		text     string
		want     string
		fails    bool
	}{
		{"base64", queue.Base64, "eyJpZCI6IjcifQ==", `{"id":"7"}`, false},
		{"base64 with white space", queue.Base64, " eyJp\tZCI6\r\nIjcifQ= =\n", `{"id":"7"}`, false},
		{"plain text that is valid base64", queue.Base64, "test", "\xb5\xeb\x2d", false},
		{"plain text", queue.Base64, `{"id":"7"}`, "", true},
		{"missing padding", queue.Base64, "eyJpZCI6IjcifQ", "", true},
		{"url alphabet", queue.Base64, "-_-_", "", true},
		{"other white space", queue.Base64, "dGVz\u00a0dA==", "", true},
		{"text after padding", queue.Base64, "dA==dA==", "", true},
		{"empty", queue.Base64, "", "", false},
		{"only white space", queue.Base64, " \n", "", false},
		{"none", queue.Verbatim, "grüße", "grüße", false},
		{"none keeps white space", queue.Verbatim, " a\n", " a\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.encoding.Decode(tt.text)
			if tt.fails {
				if !errors.Is(err, queue.ErrUndecodable) {
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
	if got, want := queue.Base64.Encode([]byte("\xff\x00")), "/wA="; got != want {
		t.Errorf("Base64.Encode = %q, want %q", got, want)
	}
	if got, want := queue.Verbatim.Encode([]byte("ü\xff\xff")), "ü\uFFFD\uFFFD"; got != want {
		t.Errorf("Verbatim.Encode = %q, want %q", got, want)
	}
}

func TestParseEncoding(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]queue.Encoding{"": queue.Base64, "Base64": queue.Base64, "NONE": queue.Verbatim} {
		if got, err := queue.ParseEncoding(name); got != want || err != nil {
			t.Errorf("ParseEncoding(%q) = %v, %v, want %v", name, got, err, want)
		}
	}
	if _, err := queue.ParseEncoding("utf8"); err == nil {
		t.Error(`ParseEncoding("utf8") succeeded, want an error`)
	}
}

func FuzzEncoding(f *testing.F) {
	f.Add([]byte("hello"), "aGVsbG8=")
	f.Add([]byte{0xff, 0}, " a\n")
	f.Fuzz(func(t *testing.T, body []byte, text string) {
		got, err := queue.Base64.Decode(queue.Base64.Encode(body))
		if err != nil || string(got) != string(body) {
			t.Errorf("base64 of %q came back as %q, %v", body, got, err)
		}
		if got, err := queue.Verbatim.Decode(text); err != nil || string(got) != text {
			t.Errorf("text %q came back as %q, %v", text, got, err)
		}
		if got, err := queue.Base64.Decode(text); err != nil && (got != nil || !errors.Is(err, queue.ErrUndecodable)) {
			t.Errorf("Decode(%q) = %q, %v", text, got, err)
		}
	})
}

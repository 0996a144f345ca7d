package web

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A body is read as io.ReadAll does it, whatever length was announced.
func TestReadAll(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, length := range []int64{-1, 0, 1, 5, 6, 700, 1 << 40} {
		for name, body := range map[string]func() io.Reader{
			"whole":        func() io.Reader { return strings.NewReader("hello") },
			"empty":        func() io.Reader { return strings.NewReader("") },
			"byte by byte": func() io.Reader { return iotest.OneByteReader(strings.NewReader("hello")) },
			"with its end": func() io.Reader { return iotest.DataErrReader(strings.NewReader("hello")) },
			"breaks off":   func() io.Reader { return io.MultiReader(strings.NewReader("hel"), iotest.ErrReader(broken)) },
			"long":         func() io.Reader { return strings.NewReader(strings.Repeat("x", 100_000)) },
		} {
			want, wantErr := io.ReadAll(body())
			got, err := readAll(body(), length)
			if string(got) != string(want) || !errors.Is(err, wantErr) {
				t.Errorf("%s, announced %d: %d bytes, %v; want %d, %v", name, length, len(got), err, len(want), wantErr)
			}
		}
	}
}

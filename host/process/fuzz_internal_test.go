package process

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions/call"
)

// FuzzOutput: what a process writes becomes the same lines however it is cut into writes,
// each of limited length, in UTF-8 and without a line break, and nothing is lost.
func FuzzOutput(f *testing.F) {
	for _, text := range []string{
		"listening\nWarning: old\r\npanic: boom\n\ngoroutine 1 [running]:\n\tmain.main()",
		`{"@level":"warn","@message":"slow","@module":"handler"}` + "\n" + `{"@level":5,"@message":"x"}` + "\n{",
		"LanguageWorkerConsoleLog[error] wrong version\nazfuncjsonlog:{}\r\r\n",
		"half a character \xf0\x9f\n\x98\x80\x00\n",
	} {
		f.Add([]byte(text), uint8(3), true)
		f.Add([]byte(text), uint8(200), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8, stderr bool) {
		read := func(size int) (lines []Line) {
			o := &output{deliver: func(l Line) { lines = append(lines, l) }}
			s := &splitter{out: o, stderr: stderr}
			for rest := text; len(rest) > 0; {
				n, err := s.Write(rest[:min(size, len(rest))])
				if n == 0 || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
				rest = rest[n:]
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			o.close()
			if last, failed := o.tail(); len(last) > keptLines || len(failed) > keptErrors {
				t.Errorf("%d lines and %d errors are kept", len(last), len(failed))
			}
			return lines
		}
		lines := read(int(size) + 1)
		if diff := cmp.Diff(lines, read(len(text)+1)); diff != "" {
			t.Errorf("in writes of %d bytes (-got +want)\n%s", int(size)+1, diff)
		}
		for _, l := range lines {
			if !utf8.ValidString(l.Text) || len(l.Text) > maxLine*utf8.UTFMax || l.Level < call.Trace || l.Level > call.Critical {
				t.Errorf("line %+v", l)
			}
		}
	})
}

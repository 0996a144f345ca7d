package python_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/kit/python"
)

// The wheel is the same each time, its record names each file with its hash, and the kit has
// the worker's library, and not its program.
func TestWheel(t *testing.T) {
	t.Parallel()
	var one, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&one, &again} {
		if err := python.Wheel(w, "1.2.3"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), again.Bytes()) {
		t.Error("two wheels differ")
	}
	z, err := zip.NewReader(bytes.NewReader(one.Bytes()), int64(one.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var record strings.Builder
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		text := read(t, f)
		if strings.HasSuffix(f.Name, "/RECORD") {
			if want := record.String() + f.Name + ",,\n"; string(text) != want {
				t.Errorf("RECORD is\n%s\nwant\n%s", text, want)
			}
			continue
		}
		sum := sha256.Sum256(text)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
	}
	for _, name := range []string{"redeliver_testing/py.typed", "redeliver_testing/_worker/answers.py", "redeliver_testing/standin/azure/functions/__init__.py", "redeliver_testing-1.2.3.dist-info/entry_points.txt"} {
		if !slices.Contains(names, name) {
			t.Errorf("the wheel has no %s", name)
		}
	}
	for _, name := range []string{"redeliver_testing/_worker/serve.py", "redeliver_testing/worker.py"} {
		if slices.Contains(names, name) {
			t.Errorf("the wheel has %s, which is of the program", name)
		}
	}
}

func read(t *testing.T, f *zip.File) []byte {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The host without "await" is the other one without it.
func TestWrittenHost(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "python3", "unasync.py", "--check").CombinedOutput()
	if _, missing := exec.LookPath("python3"); missing != nil {
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required", missing)
		}
		t.Skip("there is no python3 here")
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

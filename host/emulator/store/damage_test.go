package store_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

func TestSecondOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, nil)
	_, err := store.Open(dir, nil)
	var inUse *store.InUseError
	if !errors.As(err, &inUse) || inUse.PID != os.Getpid() {
		t.Errorf("a second Open in this process = %v, want InUseError with its pid", err)
	}
	must(t, s.Close())

	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), ownDir+"="+dir)
	out, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "open\n" {
		t.Fatalf("the other process says %q", line)
	}
	_, err = store.Open(dir, nil)
	if !errors.As(err, &inUse) || inUse.PID != other.Process.Pid || !strings.Contains(err.Error(), filepath.Base(os.Args[0])) {
		t.Errorf("Open while process %d has it = %v", other.Process.Pid, err)
	}
	must(t, other.Process.Kill())
	_ = other.Wait() // it was killed
	open(t, dir, nil)
}

func TestOtherVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, nil)
	must(t, s.Close())
	format := filepath.Join(dir, "FORMAT")
	text, err := os.ReadFile(format)
	must(t, err)
	for _, test := range []struct {
		text string
		want int // version; 0: damage
	}{
		{"redeliver data\nformat 99\nsomething new\n", 99},
		{"redeliver data\nformat 0\n", -1},
		{"", 0},
		{"redeliver data\n", 0},
		{"something else\n", 0},
		{strings.Replace(string(text), "0001", "0000", 1), 0},
	} {
		must(t, os.WriteFile(format, []byte(test.text), 0o644))
		_, err := store.Open(dir, nil)
		var version *store.VersionError
		var damage *store.CorruptError
		switch {
		case test.want == 0 && !errors.As(err, &damage):
			t.Errorf("Open with FORMAT %q = %v, want CorruptError", test.text, err)
		case test.want != 0 && (!errors.As(err, &version) || version.Got != max(test.want, 0) || version.Want != 3):
			t.Errorf("Open with FORMAT %q = %v, want VersionError", test.text, err)
		}
	}
	must(t, os.Remove(format))
	var damage *store.CorruptError
	if _, err := store.Open(dir, nil); !errors.As(err, &damage) {
		t.Errorf("Open without FORMAT = %v, want CorruptError", err)
	}
	must(t, os.WriteFile(format, text, 0o644))
	open(t, dir, nil)
}

// filled makes a data directory as a kill leaves it: with segments of the log, and
// files. It returns the directory and what Open must find there.
func filled(t *testing.T) (dir string, want []string, id store.FileID) {
	t.Helper()
	live := t.TempDir()
	opts := new(store.Options).WithSegment(128 << 10)
	s := open(t, live, opts)
	id = writeFile(t, s, pattern(100_000))
	must(t, apply(s, func(b *store.Batch) { b.Keep(id) }))
	for i := range 100 {
		must(t, set(s, fmt.Sprintf("old%03d", i), string(pattern(3000+i))))
	}
	must(t, s.Close())
	s = open(t, live, opts)
	for i := range 100 {
		must(t, set(s, fmt.Sprintf("new%03d", i), string(pattern(1000+i))))
	}
	want = dump(t, s)
	dir = filepath.Join(t.TempDir(), "data")
	must(t, os.CopyFS(dir, os.DirFS(live))) // while it is open
	return dir, want, id
}

func TestAMissingFileIsNamed(t *testing.T) {
	t.Parallel()
	dir, _, id := filled(t)
	lost := filepath.Join(dir, "0001", "files", fmt.Sprintf("%02x", uint8(id)), fmt.Sprintf("%016x", uint64(id)))
	must(t, os.Remove(lost))
	_, err := store.Open(dir, nil)
	var damage *store.CorruptError
	if !errors.As(err, &damage) || damage.Path != lost {
		t.Errorf("Open without a file = %v, want a CorruptError of %q", err, lost)
	}
}

// read opens a store and reads all that is in it.
func read(t *testing.T, dir string, id store.FileID) ([]string, error) {
	t.Helper()
	s, err := store.Open(dir, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	v, err := s.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	var out []string
	err = v.Scan([]byte{1}, nil, func(key, value []byte) error {
		out = append(out, fmt.Sprintf("%s=%s", key, value))
		return nil
	})
	if err != nil {
		return nil, err
	}
	body, err := readFile(s, id)
	if err == nil && !bytes.Equal(body, pattern(100_000)) {
		t.Error("a damaged file was read as if it were whole")
	}
	return out, err
}

// Every byte matters or does not; none may make the store lie. Only what was
// written last may be missing, as if the process had been killed before it.
func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	pristine, want, id := filled(t)
	if got, err := read(t, copyOf(t, pristine), id); err != nil || !slices.Equal(got, want) {
		t.Fatalf("the copy holds %d keys of %d, %v", len(got), len(want), err)
	}
	var names []string
	must(t, filepath.WalkDir(pristine, func(path string, d fs.DirEntry, err error) error {
		if name := filepath.Base(path); err == nil && !d.IsDir() && name != "LOCK" && name != "OWNER" {
			rel, _ := filepath.Rel(pristine, path)
			names = append(names, rel)
		}
		return err
	}))
	if len(names) < 6 {
		t.Fatalf("files = %q", names)
	}
	named := 0
	check := func(what, name string, spoil func(b []byte) []byte) {
		t.Helper()
		dir := copyOf(t, pristine)
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		must(t, err)
		b = spoil(bytes.Clone(b))
		must(t, os.Remove(path))
		if b != nil {
			must(t, os.WriteFile(path, b, 0o644))
		}
		got, err := read(t, dir, id)
		var damage *store.CorruptError
		var version *store.VersionError
		switch log := filepath.Ext(name) == ".log"; {
		case errors.As(err, &damage), errors.As(err, &version):
			named++
		case err != nil:
			t.Errorf("%s of %s: %v, want CorruptError", what, name, err)
		case slices.Equal(got, want):
		case log && what == "cut" && prefixOfNew(got, want):
		case log && strings.HasPrefix(what, "last") && prefixOfNew(got, want):
		default:
			t.Errorf("%s of %s: %d keys of %d and no error", what, name, len(got), len(want))
		}
		must(t, os.RemoveAll(dir))
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(pristine, name))
		must(t, err)
		size := int(info.Size())
		check("removal", name, func([]byte) []byte { return nil })
		if size == 0 {
			continue
		}
		step := max(1, size/12)
		for i := 0; i < size; i += step {
			what := "change"
			if i+step >= size {
				what = "last change"
			}
			check(what, name, func(b []byte) []byte { b[i] ^= 0x11; return b })
		}
		for _, n := range []int{0, size / 2, size - 1} {
			check("cut", name, func(b []byte) []byte { return b[:n:n] })
		}
	}
	t.Logf("%d damages were named", named)
	if named < 30 {
		t.Errorf("only %d damages were named", named)
	}
}

// prefixOfNew reports whether got is want without some of the last new keys.
func prefixOfNew(got, want []string) bool {
	missing := len(want) - len(got)
	if missing < 0 || missing > 100 {
		return false
	}
	return slices.Equal(got[:100-missing], want[:100-missing]) && slices.Equal(got[100-missing:], want[100:])
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// A log that is shorter than it was when the store was closed is damage, wherever it
// ends.
func TestAShortLogIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(dir, "0001", "log", "00000001.log")
	s := open(t, dir, nil)
	var ends []int64
	for i := range 4 {
		must(t, set(s, fmt.Sprintf("key%d", i), string(pattern(1000))))
		info, err := os.Stat(log)
		must(t, err)
		ends = append(ends, info.Size())
	}
	must(t, s.Close())
	for _, end := range ends[:3] {
		spoiled := copyOf(t, dir)
		must(t, os.Truncate(filepath.Join(spoiled, "0001", "log", "00000001.log"), end))
		s, err := store.Open(spoiled, nil)
		var damage *store.CorruptError
		if !errors.As(err, &damage) {
			t.Errorf("a log of %d bytes: %v, want a CorruptError", end, err)
		}
		if err == nil {
			must(t, s.Close())
		}
	}
}

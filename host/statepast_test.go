package host_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
)

// Every later program reads the state that the first program with this version of
// both formats saved, or left in its directory. The zip file holds the archive and
// the directory of one host with something in every service, and never changes; a
// new version of a format gets one of its own.
func TestStateOfThePast(t *testing.T) {
	t.Parallel()
	past := t.TempDir()
	r, err := zip.OpenReader("testdata/state3.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.CopyFS(past, r); err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(filepath.Join(past, "archive"))
	if err != nil {
		t.Fatal(err)
	}
	at := hosttest.Start.Add(25 * time.Second)
	load := func(w *world) []string {
		t.Helper()
		if _, err := w.LoadState(bytes.NewReader(archive)); err != nil {
			t.Fatal(err)
		}
		_, keys := w.save(t)
		return keys
	}
	open := func(dir string) *store.Store {
		t.Helper()
		db, err := store.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	want := keysOf(t, archive)
	_, stored := newWorld(t, at, open(filepath.Join(past, "store"))).save(t)
	for how, got := range map[string][]string{
		"archive in memory": load(newWorld(t, at, nil)), "archive in a store": load(newWorld(t, at, open(t.TempDir()))), "directory": stored,
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-saved +found):\n%s", how, diff)
		}
	}
}

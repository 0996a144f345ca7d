package verbs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/cmd/redeliver/remote"
)

// The folder of an app belongs to its user alone, and so does what download and state
// save write.
func TestPrivateFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, remote.StateDir), 0o755); err != nil {
		t.Fatal(err)
	}
	owner, err := remote.Own(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Release()
	saved := filepath.Join(dir, "saved")
	if _, err := writeFile(saved, bytes.NewReader([]byte("text"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{saved, filepath.Join(dir, remote.StateDir)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if owner.Exposed != nil {
		t.Errorf("exposed: %v", owner.Exposed)
	}
}

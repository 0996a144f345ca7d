package tempdir_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/internal/tempdir"
)

// killed is what TestMain does as a process that is to be killed: it makes a folder, says its
// path, and waits.
const killed = "REDELIVER_TEMPDIR_KILLED"

func TestMain(m *testing.M) {
	if os.Getenv(killed) == "" {
		os.Exit(m.Run())
	}
	dir, err := tempdir.Make("mine-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir.Path, "data"), []byte("7"), 0o600)
	}
	fmt.Println(filepath.Dir(dir.Path), err)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// A folder goes with its process, or with the next one; that of a process that lives stays, and
// so does what has another name, or is new and has no mark yet.
func TestFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	run := func() (dir string, kill func()) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), killed+"=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fscan(out, &dir); err != nil {
			t.Fatal(err)
		}
		return dir, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	}
	there := func(dir string) bool { _, err := os.Stat(dir); return err == nil }
	dead, kill := run()
	kill()
	if !there(filepath.Join(dead, "files", "data")) {
		t.Fatal("a process that was killed has left nothing")
	}
	others := filepath.Join(os.Getenv("TMPDIR"), "other-1")
	fresh, stale := filepath.Join(os.Getenv("TMPDIR"), "mine-fresh"), filepath.Join(os.Getenv("TMPDIR"), "mine-stale")
	for _, dir := range []string{others, fresh, stale} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(stale, long, long); err != nil {
		t.Fatal(err)
	}
	lives, kill := run()
	defer kill()
	own, err := tempdir.Make("mine-")
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{dead: false, stale: false, lives: true, others: true, fresh: true, own.Path: true} {
		if there(dir) != want {
			t.Errorf("%s is there: %v, want %v", dir, !want, want)
		}
	}
	tempdir.Sweep("mine-")
	if !there(own.Path) {
		t.Error("a folder of this process was swept")
	}
	for range 2 {
		if err := own.Remove(); err != nil || there(filepath.Dir(own.Path)) {
			t.Errorf("it is removed: %v", err)
		}
	}
}

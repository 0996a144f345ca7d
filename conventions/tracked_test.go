package conventions_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// largest is the size of a tracked file above which it is something that was built.
const largest = 2 << 20

// What is built is not kept: its bytes would stay in every clone for good.
func TestNothingBuiltIsTracked(t *testing.T) {
	t.Parallel()
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("the source is no clone: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		info, err := os.Lstat(name)
		switch {
		case err != nil: // removed, and not committed yet
		case strings.HasPrefix(name, "dist/") || strings.HasPrefix(name, "bin/"):
			t.Errorf("%s is what make writes", name)
		case info.Size() > largest:
			t.Errorf("%s has %d bytes, want %d at most", name, info.Size(), largest)
		}
	}
}

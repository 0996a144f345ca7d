package plugin

import (
	"os"
	"path/filepath"
)

// mark is the file that tells Redeliver's folders of sockets from others.
// The maker of a folder holds its mark for as long as it needs the folder,
// and the system lets go of it with the process, however that ends.
const mark = "redeliver.lock"

// removeSockets removes the folders that go-plugin made for sockets and whose mark
// no host holds.
func removeSockets() {
	marks, _ := filepath.Glob(filepath.Join(os.TempDir(), "plugin-dir*", mark)) // the pattern is good
	for _, m := range marks {
		if abandoned(m) {
			_ = os.RemoveAll(filepath.Dir(m)) // garbage; the next start tries again
		}
	}
}

package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// eventlessTypes are file systems that another machine changes, or the host of a virtual
// one, without an event here (man inotify(7), limitations; WSL issue 4739).
var eventlessTypes = []string{ // read only
	"9p", "nfs", "nfs3", "nfs4", "cifs", "smb3", "smbfs", "smbnetfs", "drvfs", "virtiofs", "vboxsf", "vmhgfs", "prl_fs",
	"fuse.sshfs", "fuse.rclone", "fuse.vmhgfs-fuse", "fuse.s3fs", "fuse.blobfuse", "fuse.blobfuse2", "fuse.davfs", "davfs", "afs", "ceph", "glusterfs", "fuse.glusterfs",
}

// eventless is the file system of a folder if that has no events for what others change;
// else, and where the system does not tell, it is empty.
func eventless(folder string) string {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if kind := fileSystem(string(mounts), folder); slices.Contains(eventlessTypes, kind) {
		return kind
	}
	return ""
}

// fileSystem is the file system at a path, by the list of mounts (man proc(5), mountinfo).
func fileSystem(mounts, path string) (kind string) {
	longest := ""
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 {
			continue
		}
		point := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		if within(point, path) && len(point) >= len(longest) {
			longest = point
			kind, _, _ = strings.Cut(after, " ")
		}
	}
	return kind
}

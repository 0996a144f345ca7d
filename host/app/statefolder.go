package app

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/redeliver/redeliver/host/internal/dotnet"
	"github.com/redeliver/redeliver/host/internal/home"
)

// published reports whether a folder is the output of a build of .NET.
func published(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, outputFolder))
	return err == nil && info.IsDir() && isFile(dir, outputFile) && len(dotnet.Find(dir)) == 0
}

// DotnetFolder is where the builds of an app in .NET are kept.
func DotnetFolder(dir string) string { return filepath.Join(StateFolder(dir), "dotnet") }

// StateFolder is where the host keeps what it makes for the app of a folder: StateDir below
// it, or a folder of the user for this app alone where nothing can be made there, so that an
// app in a read-only folder runs, and where a build of .NET was published, which is going to
// be deployed as it is. A StateDir that is there and cannot be written stays the answer: it is
// another user's.
func StateFolder(dir string) string {
	below := filepath.Join(dir, StateDir)
	if _, err := os.Lstat(below); err == nil || home.Writable(dir) && !published(dir) {
		return below
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return below // there is no such app
	}
	if real, err = filepath.Abs(real); err != nil {
		return below
	}
	name := sha256.Sum256([]byte(real))
	folder, err := home.Folder("apps", hex.EncodeToString(name[:8]))
	if err != nil {
		return below // the error of writing there says more
	}
	return folder
}

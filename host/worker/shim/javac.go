package shim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/redeliver/redeliver/host/internal/apart"
)

// release is the version of Java for which the worker is compiled: any later one runs it.
const release = "11"

// CompileJava has the compiler of the user's JDK compile the source of the worker for Java,
// once for all apps of the user, and returns the folder of the classes and the name of the
// one to run: from its source the worker starts a second later. It writes to the user's
// cache folder, or beside the source where there is none. Several programs may do so at
// once; when ctx ends the compiler is stopped.
func CompileJava(ctx context.Context, javac, source string) (folder, class string, err error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return "", "", err
	}
	digest := sha256.Sum256(append([]byte(release+"\n"), text...))
	parent := filepath.Dir(source)
	if cache, err := os.UserCacheDir(); err == nil && os.MkdirAll(filepath.Join(cache, "redeliver", "java"), 0o700) == nil {
		parent = filepath.Join(cache, "redeliver", "java")
	}
	class = strings.TrimSuffix(filepath.Base(source), ".java")
	folder = filepath.Join(parent, hex.EncodeToString(digest[:8]))
	if _, err := os.Stat(filepath.Join(folder, class+".class")); err == nil {
		return folder, class, nil
	}
	return folder, class, compileInto(ctx, javac, source, folder)
}

// compileInto makes a folder of classes, whole or not at all.
func compileInto(ctx context.Context, javac, source, folder string) error {
	part, err := os.MkdirTemp(filepath.Dir(folder), "part")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	cmd := exec.CommandContext(ctx, javac, "-J-XX:TieredStopAtLevel=1", "--release", release, "-encoding", "UTF-8", "-proc:none", "-nowarn", "-d", part, source)
	apart.Group(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%s cannot compile the worker for Java: %w: %s; a JDK %s or later is needed: install one, or set JAVA_HOME to its folder", javac, err, said, release)
	}
	if err := os.Rename(part, folder); err != nil {
		if _, gone := os.Stat(folder); gone != nil {
			return err
		} // another program was faster
	}
	return nil
}

package shim

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/internal/apart"
)

// release is the version of Java for which the worker is compiled: any later one runs it.
const release = "11"

// CompileJava has the compiler of the user's JDK compile the worker for Java, once, from its
// main source and those around it, into a folder beside that, and returns the folder and the
// name of the class to run. Several programs may do so at once; when ctx ends the compiler is
// stopped.
func CompileJava(ctx context.Context, javac, source string) (folder, class string, err error) {
	class = strings.TrimSuffix(filepath.Base(source), ".java")
	folder = filepath.Join(filepath.Dir(source), "classes-"+release)
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
	if filepath.Base(javac) != javac { // JAVA_HOME may be a path from the folder of the host
		if javac, err = filepath.Abs(javac); err != nil {
			return err
		}
	}
	// Of the folder in which the host runs, of CLASSPATH and of JDK_JAVAC_OPTIONS nothing
	// counts: they are the app's, and a String.java there would stand for java.lang.String.
	cmd := exec.CommandContext(ctx, javac, "-J-XX:TieredStopAtLevel=1", "--release", release, "-encoding", "UTF-8", "-proc:none", "-nowarn", "-cp", part, "-sourcepath", filepath.Dir(source), "-d", part, source)
	cmd.Dir = part
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "JDK_JAVAC_OPTIONS=") })
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

package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/launch"
)

// Java is that of JAVA_HOME, else the one in PATH, also for the official worker, whose
// description names JAVA_HOME. What the app asks for stands before the worker (spec
// workers-dotnet-java 2.2, 2.5).
func TestJavaProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have another name there")
	}
	home, inPath, jre, official := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	for _, path := range []string{
		filepath.Join(home, "bin", "java"), filepath.Join(home, "bin", "javac"), filepath.Join(inPath, "java"), filepath.Join(jre, "java"),
		filepath.Join(official, "worker.jar"), filepath.Join(official, "worker.config.json"),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text := `{"description": {"language": "java", "extensions": [".jar"], "defaultExecutablePath": "%JAVA_HOME%/bin/java", "defaultWorkerPath": "worker.jar", "arguments": ["-jar %JAVA_OPTS%"]}}`
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{"-XX:+TieredCompilation", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true"}
	for name, tt := range map[string]struct {
		settings map[string]string
		path     string // PATH
		prefer   string
		want     string
		args     []string
		err      string
	}{
		"JAVA_HOME":       {settings: map[string]string{"JAVA_HOME": home}, path: inPath, want: filepath.Join(home, "bin", "java"), args: append(flags, "Worker.java")},
		"PATH":            {path: inPath + ":" + filepath.Join(home, "bin"), want: filepath.Join(inPath, "java"), args: append(flags, "Worker.java")},
		"named":           {settings: map[string]string{"JAVA_HOME": home, "languageWorkers:java:defaultExecutablePath": filepath.Join(inPath, "java")}, path: filepath.Join(home, "bin"), want: filepath.Join(inPath, "java"), args: append(flags, "Worker.java")},
		"arguments":       {settings: map[string]string{"JAVA_HOME": home, "JAVA_OPTS": "-Xmx1g -ea", "languageWorkers:java:arguments": "-Dx=y"}, want: filepath.Join(home, "bin", "java"), args: append(flags, "-Xmx1g", "-ea", "-Dx=y", "Worker.java")},
		"official":        {settings: map[string]string{"JAVA_HOME": home, "JAVA_OPTS": "-ea"}, prefer: official, want: filepath.Join(home, "bin", "java"), args: []string{"-jar", "-ea", filepath.Join(official, "worker.jar")}},
		"official, PATH":  {path: inPath, prefer: official, want: filepath.Join(inPath, "java"), args: []string{"-jar", filepath.Join(official, "worker.jar")}},
		"nothing":         {err: `there is no program "java" in PATH`},
		"wrong JAVA_HOME": {settings: map[string]string{"JAVA_HOME": jre}, path: inPath, err: "JAVA_HOME is"},
		"no compiler":     {path: jre, err: "there is no javac"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			got, err := launch.Find(launch.Search{
				Language: "java", App: t.TempDir(), Prefer: tt.prefer, Setting: func(name string) string { return tt.settings[name] },
				Bundled: func(string) (string, error) { return "Worker.java", nil },
			})
			if tt.err != "" {
				none, ok := errors.AsType[*launch.NotFoundError](err)
				if !ok || !strings.Contains(none.Reason, tt.err) || !strings.Contains(none.Hint, "JDK 11 or later") {
					t.Fatalf("got %v, %v; want %q and what helps", got, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.args, got.Args); got.Path != tt.want || diff != "" {
				t.Errorf("got %q, want %q; arguments (-want +got):\n%s", got.Path, tt.want, diff)
			}
		})
	}
}

package launch

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const javaHome = "JAVA_HOME"

// java finds the program java: the one that is named, else that of JAVA_HOME, else the
// one in PATH (spec workers-dotnet-java 2.5). The description of the official worker names
// the one of JAVA_HOME.
func (s *Search) java(named string) (string, error) {
	home := s.Setting(javaHome)
	if own := strings.HasPrefix(named, "%"+javaHome+"%"); !own && s.expand(named) != "" {
		return s.interpreter(s.expand(named))
	}
	if home == "" {
		return s.interpreter("")
	}
	path := filepath.Join(home, "bin", programName("java"))
	if !isFile(path) {
		return "", s.notFound(fmt.Sprintf("%s is %q, and that folder has no %s", javaHome, home, filepath.Join("bin", programName("java"))),
			"set it to the folder of a JDK 11 or later, or remove it")
	}
	return path, nil
}

// JavaCompiler is the program javac of the JDK that a program java belongs to, else the
// one in PATH, "" when there is none.
func JavaCompiler(java string) string {
	if real, err := filepath.EvalSymlinks(java); err == nil {
		java = real
	}
	if path := filepath.Join(filepath.Dir(java), programName("javac")); isFile(path) {
		return path
	}
	path, _ := exec.LookPath("javac")
	return path
}

func programName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// javaArguments are what the official worker starts with, except that it does not leave
// out the verification of classes, and what the app asks for.
func (s *Search) javaArguments() []string {
	return append([]string{"-XX:+TieredCompilation", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true"}, strings.Fields(s.Setting("JAVA_OPTS"))...)
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	page    = "docs/help/compared.md"
	azurite = ".interop/node_modules/azurite"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare: error:", err)
		os.Exit(1)
	}
}

// run measures, and writes the page.
func run() error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	m := machine{Date: time.Now().UTC(), Processors: runtime.NumCPU(), Go: runtime.Version(), Before: load()}
	if m.Program, err = said("bin/redeliver", "version"); err != nil {
		return fmt.Errorf("%w; make build writes bin/redeliver", err)
	}
	m.Azurite, m.Node = version(azurite), ""
	if m.Azurite != "" {
		m.Node, _ = said("node", "--version")
	}
	m.Absent = absent(func(command string, args ...string) bool { return exec.Command(command, args...).Run() == nil })
	fmt.Println("the storage services, in turns; this takes two minutes")
	var out bytes.Buffer
	bench := exec.Command("go", "test", "-run", "^$", "-bench", "Servers", "-benchtime", "1x", "./host/emulator/rest/restbench", "-args", "-row", " 16")
	bench.Stdout, bench.Stderr = io.MultiWriter(&out, os.Stdout), os.Stderr
	if err := bench.Run(); err != nil {
		return fmt.Errorf("the benchmark of the storage services: %w", err)
	}
	if m.Rates, err = rates(out.String()); err != nil {
		return err
	}
	if m.Starts, err = starts(m.Azurite != ""); err != nil {
		return err
	}
	info, err := os.Stat("bin/redeliver")
	if err != nil {
		return err
	}
	m.Size, m.After = info.Size(), load()
	written, err := replaced(string(text), m.text())
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(written), 0o644)
}

// said is the first line that a program prints.
func said(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line), err
}

// version is that of a package of npm, or nothing where it is not installed.
func version(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	var p struct {
		Version string `json:"version"`
	}
	if err != nil || json.Unmarshal(text, &p) != nil {
		return ""
	}
	return p.Version
}

// load is the machine's load of the last minute, or nothing where no file tells it.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

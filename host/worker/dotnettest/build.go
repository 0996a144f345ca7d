package dotnettest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Version is what the program says of itself.
const Version = "8.0.404"

// Main is the program. It returns when there is nothing to wait for.
func Main() {
	args := os.Args[1:]
	switch {
	case slices.Equal(args, []string{"--version"}):
		fmt.Println(Version)
	case len(args) > 1 && args[0] == "build":
		os.Exit(build(args[1], args[2:]))
	case len(args) > 0 && filepath.Base(args[0]) == powershellWorker:
		workPowerShell(args[0], args[1:])
	case len(args) > 0 && strings.HasSuffix(args[0], ".dll"):
		work(args[0], args[1:])
	default:
		fmt.Fprintf(os.Stderr, "Could not execute because the specified command or file was not found: %q\n", args)
		os.Exit(1)
	}
}

// build is `dotnet build PROJECT`. It returns the exit status.
func build(project string, args []string) int {
	var output, result string
	for i, arg := range args {
		switch {
		case arg == "--output" && i+1 < len(args):
			output = args[i+1]
		case strings.HasPrefix(arg, "--getResultOutputFile:"):
			result = strings.TrimPrefix(arg, "--getResultOutputFile:")
		}
	}
	if output == "" || result == "" || !slices.Contains(args, "--getTargetResult:Build") {
		fmt.Fprintf(os.Stderr, "MSBUILD : error MSB1001: Unknown switch: %q\n", args)
		return 1
	}
	dir := filepath.Dir(project)
	// The build leaves its own files beside the sources.
	check(os.MkdirAll(filepath.Join(dir, "obj"), 0o755))
	note(filepath.Join(dir, "obj", "builds.log"), strings.Join(args, " ")+"\n")
	text, faults := compile(dir)
	if len(faults) > 0 {
		for _, fault := range faults {
			fmt.Printf("%s [%s]\n", fault, project)
		}
		fmt.Printf("    0 Warning(s)\n    %d Error(s)\n", len(faults))
		return 1
	}
	check(os.MkdirAll(output, 0o755))
	if err := os.CopyFS(output, os.DirFS(filepath.Join(dir, "output"))); err != nil && !errors.Is(err, fs.ErrExist) {
		check(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "host.json")); err == nil {
		check(os.WriteFile(filepath.Join(output, "host.json"), text, 0o644))
	}
	if source, err := os.ReadFile(filepath.Join(dir, "Generate.in")); err == nil {
		check(os.WriteFile(filepath.Join(dir, "Generated.cs"), source, 0o644)) // a target of the project's own
	}
	tell(project)
	assembly := filepath.Join(output, "App.dll")
	check(os.WriteFile(assembly, []byte(text), 0o644))
	item := map[string]string{"Identity": assembly, "FullPath": assembly}
	answer, err := json.Marshal(map[string]any{"TargetResults": map[string]any{"Build": map[string]any{"Result": "Success", "Items": []any{item}}}})
	check(err)
	check(os.WriteFile(result, answer, 0o644))
	for i, line := range strings.Split(text, "\n") {
		if warning, ok := strings.CutPrefix(line, "#warning "); ok {
			fmt.Printf("%s(%d,10): warning CS1030: #warning: '%s' [%s]\n", filepath.Join(dir, "Orders.cs"), i+1, warning, project)
		}
	}
	fmt.Printf("  App -> %s\n", assembly)
	return 0
}

// tell writes down what was built, as the host asks a real build to do.
func tell(project string) {
	folder := os.Getenv("RedeliverBuildFolder")
	if folder == "" {
		return // somebody else builds
	}
	lines := "project|" + project + "\n"
	check(filepath.WalkDir(filepath.Dir(project), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "bin" || e.Name() == "obj" || strings.HasPrefix(e.Name(), ".") && filepath.Base(filepath.Dir(path)) != "output"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".cs"), strings.HasSuffix(path, ".fs"), e.Name() == "host.json", filepath.Base(filepath.Dir(path)) == "output":
			lines += "input|" + path + "\n"
		}
		return nil
	}))
	check(os.MkdirAll(filepath.Join(folder, "inputs"), 0o755))
	check(os.WriteFile(filepath.Join(folder, "inputs", filepath.Base(project)+".txt"), []byte(lines), 0o644))
}

// compile is the text of all sources below a folder, and what is wrong in them.
func compile(dir string) (text string, faults []string) {
	check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != dir && (e.Name() == "bin" || e.Name() == "obj" || strings.HasPrefix(e.Name(), ".")):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".cs") && !strings.HasSuffix(path, ".fs"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(source), "\n") {
			if wrong, ok := strings.CutPrefix(line, "#error "); ok {
				faults = append(faults, fmt.Sprintf("%s(%d,8): error CS1029: #error: '%s'", path, i+1, wrong))
			}
		}
		text += string(source)
		return nil
	}))
	return text, faults
}

// note appends to a file.
func note(path, line string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	check(err)
	_, err = f.WriteString(line)
	check(err)
	check(f.Close())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

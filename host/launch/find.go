package launch

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/worker"
)

// CoreToolsVariable names the environment variable that holds the folder of the
// platform's tools, whose workers are taken then.
const CoreToolsVariable = "REDELIVER_CORE_TOOLS"

// The values of Search.Prefer that are no folder.
const (
	PreferShim     = "shim"     // the worker that this program brings along
	PreferOfficial = "official" // the platform's own
)

// Search says where the worker of an app may be found.
type Search struct {
	// Language is the runtime, "node".
	Language string
	// App is the app's folder, absolute.
	App string
	// Setting returns an app setting or environment variable, "" for none. Sections are
	// separated by ":".
	Setting func(name string) string
	// Bundled returns the entry file of the worker that this program brings along for a
	// language, "" for none.
	Bundled func(language string) (entry string, err error)
	// Prefer is PreferShim, PreferOfficial or the folder of a worker; "" takes the first
	// that is found.
	Prefer string
}

// Found is a worker that can be started.
type Found struct {
	Language string
	// Path is the program, Args what stands before the arguments of the connection.
	Path string
	Args []string
	// Directory is the worker's folder.
	Directory string
	Transport worker.Transport
	Indexing  bool
	// Env is what the worker needs besides the app's environment, "NAME=value".
	Env []string

	// App is the folder in which the worker runs, and that it takes for the app's. Find
	// leaves it empty for a .NET project: its build says. See Search.Output.
	App string
	// Metadata is the path of functions.metadata, "" for none: see Spec.
	Metadata string

	Processes Processes
}

// Official reports whether the worker is the platform's own.
func (f *Found) Official() bool { return f.Transport == worker.GRPC }

// NotFoundError says why there is no worker for a language.
type NotFoundError struct {
	Language string
	Reason   string
	Hint     string
}

func (e *NotFoundError) Error() string { return e.Reason }

// Find looks for a worker (spec workers 3.4): where the settings say, in the platform's
// tools, and then among those that this program brings along. The error is a
// *NotFoundError.
//
// Of an isolated .NET app only the program dotnet is looked for: its worker is what its
// own build writes, see [Search.Output].
func Find(s Search) (*Found, error) {
	f, err := s.find()
	if err == nil && s.Language != languages.Dotnet {
		f.App = s.App
	}
	return f, err
}

func (s *Search) find() (*Found, error) {
	if s.Language == languages.Dotnet {
		path, err := s.dotnet(s.Setting("languageWorkers:" + languages.Dotnet + ":defaultExecutablePath"))
		if err != nil {
			return nil, err
		}
		return &Found{Language: s.Language, Path: path, Transport: worker.GRPC}, nil
	}
	if languages.Of(s.Language).OwnWorker {
		return s.native()
	}
	if s.Prefer != PreferShim {
		dir, said := s.directory()
		if dir != "" {
			f, err := s.official(dir)
			if err == nil || said || s.Language == languages.PowerShell { // no other one runs PowerShell
				return f, err
			}
		}
		if s.Prefer == PreferOfficial {
			return nil, s.noOfficial()
		}
	}
	return s.bundled()
}

func (s *Search) notFound(reason, hint string) *NotFoundError {
	return &NotFoundError{s.Language, reason, hint}
}

// noOfficial says that the platform's own worker is missing, and who brings it.
func (s *Search) noOfficial() *NotFoundError {
	return s.notFound("no official worker is to be found for "+s.Language,
		fmt.Sprintf("install Core Tools (npm install -g azure-functions-core-tools@4), or set languageWorkers:%s:workerDirectory to the folder of the worker", s.Language))
}

// directory is the folder of an official worker. Said: the user has named it, so
// that it has to be good.
func (s *Search) directory() (dir string, said bool) {
	if s.Prefer != "" && s.Prefer != PreferOfficial {
		return s.Prefer, true
	}
	if dir := s.Setting("languageWorkers:" + s.Language + ":workerDirectory"); dir != "" {
		return dir, true
	}
	var parents []string
	if dir := s.Setting("languageWorkers:workersDirectory"); dir != "" {
		parents = append(parents, dir)
	}
	if dir := s.Setting(CoreToolsVariable); dir != "" {
		parents = append(parents, filepath.Join(dir, "workers"))
	}
	if tool, err := exec.LookPath("func"); err == nil {
		if real, err := filepath.EvalSymlinks(tool); err == nil {
			tool = real
		}
		// The npm package has a script here, and the program in a folder beside it.
		parents = append(parents, filepath.Join(filepath.Dir(tool), "workers"), filepath.Join(filepath.Dir(tool), "..", "bin", "workers"))
	}
	for _, parent := range parents {
		dir := filepath.Join(parent, s.Language)
		if _, err := os.Stat(filepath.Join(dir, configFile)); err == nil {
			return dir, false
		}
	}
	return "", false
}

// official reads the description of an official worker.
func (s *Search) official(dir string) (*Found, error) {
	d, err := readDescription(dir, s.Setting)
	if err != nil {
		hint := "name the folder that holds " + configFile
		if dir == s.Prefer {
			hint += fmt.Sprintf(", or %q, or %q", PreferOfficial, PreferShim)
		}
		return nil, s.notFound(fmt.Sprintf("the folder %q holds no worker: %v", dir, err), hint)
	}
	f := &Found{Language: s.Language, Directory: dir, Transport: worker.GRPC, Indexing: strings.EqualFold(string(d.WorkerIndexing), "true")}
	if f.Path, err = s.program(d.DefaultExecutablePath); err != nil {
		return nil, err
	}
	version, err := s.version(d, dir, f.Path)
	if err != nil {
		return nil, err
	}
	f.Env = append(f.Env, "FUNCTIONS_WORKER_DIRECTORY="+dir)
	if version != "" {
		f.Env = append(f.Env, versionSetting+"="+version)
	}
	for _, argument := range d.Arguments {
		// One entry may stand for several (spec workers 3.1).
		f.Args = append(f.Args, strings.Fields(strings.ReplaceAll(s.expand(argument), "{workerDirectoryPath}", dir))...)
	}
	f.Args = append(f.Args, strings.Fields(s.Setting("languageWorkers:"+s.Language+":arguments"))...)
	if f.Processes, err = s.processes(d.processes); err != nil {
		return nil, err
	}
	if d.DefaultWorkerPath == "" {
		return f, nil
	}
	path := strings.NewReplacer(
		versionPlace, version, "{os}", systemName(), "{architecture}", architectureName(),
	).Replace(d.DefaultWorkerPath)
	path = s.expand(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, filepath.FromSlash(path))
	}
	if !isFile(path) {
		return nil, s.notFound(fmt.Sprintf("the worker in %q has no file %q for this machine", dir, path), "install a worker for this version of the interpreter")
	}
	f.Args = append(f.Args, path)
	return f, nil
}

// bundled is the worker that this program brings along.
func (s *Search) bundled() (*Found, error) {
	entry, err := s.Bundled(s.Language)
	if err != nil {
		return nil, s.notFound(fmt.Sprintf("the worker for %s cannot be written to disk: %v", s.Language, err), "")
	}
	if entry == "" && s.Prefer == "" {
		return nil, s.noOfficial()
	}
	if entry == "" {
		return nil, s.notFound("this version brings workers for JavaScript, TypeScript, Python and Java only",
			fmt.Sprintf("set languageWorkers:%s:workerDirectory to the folder of the official worker", s.Language))
	}
	path, err := s.program("")
	if err != nil {
		return nil, err
	}
	f := &Found{
		Language: s.Language, Path: path, Directory: filepath.Dir(entry), Transport: worker.Lines, Indexing: true,
		Env: []string{"FUNCTIONS_WORKER_DIRECTORY=" + filepath.Dir(entry)},
	}
	if s.Language == "java" {
		if JavaCompiler(path) == "" {
			return nil, s.notFound(fmt.Sprintf("the program %q belongs to no JDK: there is no javac, which compiles the worker once", path), languages.Of(s.Language).Install)
		}
		f.Args = s.javaArguments()
	}
	f.Args = append(append(f.Args, strings.Fields(s.Setting("languageWorkers:"+s.Language+":arguments"))...), entry)
	if f.Processes, err = s.processes(processOptions{}); err != nil {
		return nil, err
	}
	return f, nil
}

// program is what runs the worker: the one that is set for the app, else the one that the
// worker's description names.
func (s *Search) program(described string) (string, error) {
	named := cmp.Or(s.Setting("languageWorkers:"+s.Language+":defaultExecutablePath"), described)
	switch s.Language {
	case "java":
		return s.java(named)
	case languages.PowerShell: // its worker is a program of .NET
		return s.dotnet(s.expand(named))
	}
	return s.interpreter(s.expand(named))
}

// interpreter finds the program that runs the worker: the one that is named, else the
// one of the virtual environment, else the usual ones.
func (s *Search) interpreter(named string) (string, error) {
	row := languages.Of(s.Language)
	usual := row.Interpreters
	if named != "" && named != s.Language && !contains(usual, named) {
		if !strings.ContainsAny(named, `/\`) {
			if path, err := exec.LookPath(named); err == nil {
				return path, nil
			}
		} else if isFile(named) {
			return named, nil
		}
		return "", s.notFound(fmt.Sprintf("the program %q that is set to run functions in %s is missing", named, s.Language),
			fmt.Sprintf("correct or remove languageWorkers:%s:defaultExecutablePath", s.Language))
	}
	if s.Language == "python" {
		for _, environment := range []string{s.Setting("VIRTUAL_ENV"), filepath.Join(s.App, ".venv"), filepath.Join(s.App, "venv")} {
			if path := pythonOf(environment); path != "" {
				return path, nil
			}
		}
	}
	for _, name := range usual {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", s.notFound(fmt.Sprintf(`there is no program "%s" in PATH`, cmp.Or(strings.Join(usual, `" or "`), s.Language)), row.Install)
}

// pythonOf is the interpreter of a virtual environment, "" when there is none.
func pythonOf(environment string) string {
	if environment == "" {
		return ""
	}
	path := filepath.Join(environment, "bin", "python")
	if runtime.GOOS == "windows" {
		path = filepath.Join(environment, "Scripts", "python.exe")
	}
	if !isFile(path) {
		return ""
	}
	return path
}

func contains(list []string, name string) bool {
	for _, have := range list {
		if strings.EqualFold(have, name) {
			return true
		}
	}
	return false
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// expand puts settings in the place of %NAME%; one that is not set becomes nothing (spec
// workers 3.1). The version of the runtime is left for later.
func (s *Search) expand(text string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "%")
		name, after, closed := strings.Cut(rest, "%")
		if !ok || !closed {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(before)
		if name == versionSetting {
			b.WriteString("%" + name + "%")
		} else {
			b.WriteString(s.Setting(name))
		}
		text = after
	}
}

// systemName and architectureName are the platform's words.
func systemName() string {
	switch runtime.GOOS {
	case "darwin":
		return "OSX"
	case "windows":
		return "WINDOWS"
	}
	return "LINUX"
}

func architectureName() string {
	switch runtime.GOARCH {
	case "arm64":
		return "Arm64"
	case "386":
		return "X86"
	}
	return "X64"
}

// Environment is what a worker needs besides the app's settings (spec workers 3.2).
// has says which variables the app or the user have set.
func (f *Found) Environment(has func(name string) bool) []string {
	env := append([]string{}, f.Env...)
	add := func(name, value string) {
		if !has(name) {
			env = append(env, name+"="+value)
		}
	}
	add("FUNCTIONS_WORKER_RUNTIME", f.Language)
	env = append(env, "AzureWebJobsScriptRoot="+f.App, "FUNCTIONS_APPLICATION_DIRECTORY="+f.App)
	switch f.Language {
	case "python":
		add("PYTHON_THREADPOOL_THREAD_COUNT", "1000")
	case languages.PowerShell:
		add("PSWorkerInProcConcurrencyUpperBound", "1000")
	case "java":
		// Without a locale Java opens no file whose path has more than ASCII.
		if !has("LC_ALL") && !has("LANG") {
			add("LC_CTYPE", "C.UTF-8")
		}
	}
	return env
}

// errNoDescription is a worker.config.json without its one object.
var errNoDescription = errors.New("its " + configFile + ` has no object "description"`)

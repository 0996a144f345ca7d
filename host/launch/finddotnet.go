package launch

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/worker"
)

// dotnet finds the program dotnet: the one that is named, else where the variables of .NET
// say, else in PATH (spec workers-dotnet-java 1.2).
func (s *Search) dotnet(named string) (string, error) {
	if named != "" && named != "dotnet" {
		return s.interpreter(named)
	}
	name := "dotnet"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if path := s.Setting("DOTNET_HOST_PATH"); isFile(path) {
		return path, nil
	}
	if root := s.Setting("DOTNET_ROOT"); root != "" {
		if path := filepath.Join(root, name); isFile(path) {
			return path, nil
		}
	}
	if path, err := exec.LookPath("dotnet"); err == nil {
		return path, nil
	}
	return s.interpreter("")
}

// workerRoot stands for the output folder in the path of a program.
const workerRoot = "{WorkerRoot}"

// Output is the worker in the output folder of a .NET build (spec workers-dotnet-java
// 1.3, 1.5). The error is a *NotFoundError.
func (s Search) Output(root string) (*Found, error) {
	const again = "build or publish the app again"
	d, err := readDescription(root, nil)
	if err != nil {
		return nil, s.notFound(fmt.Sprintf("the folder %q is not the output of an isolated .NET app: %v", root, err),
			"name the folder of the project, or of its output: "+again)
	}
	f := &Found{
		Language: s.Language, Directory: root, App: root, Transport: worker.GRPC, Indexing: !strings.EqualFold(string(d.WorkerIndexing), "false"),
		Env: []string{
			"FUNCTIONS_WORKER_DIRECTORY=" + root,
			"DOTNET_NOLOGO=true", "DOTNET_CLI_TELEMETRY_OPTOUT=true", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE=true",
		},
	}
	program := s.expand(cmp.Or(d.DefaultExecutablePath, "dotnet"))
	own := strings.Contains(program, workerRoot)
	if own {
		f.Path = filepath.FromSlash(strings.ReplaceAll(program, workerRoot, root+string(filepath.Separator)))
		if !isFile(f.Path) {
			return nil, s.notFound(fmt.Sprintf("%s in %q names the program %q, which is missing", configFile, root, f.Path), again)
		}
	} else if program != "dotnet" {
		f.Path, err = s.interpreter(program)
	} else {
		f.Path, err = s.dotnet(s.Setting("languageWorkers:" + languages.Dotnet + ":defaultExecutablePath"))
	}
	if err != nil {
		return nil, err
	}
	if assembly := filepath.FromSlash(s.expand(d.DefaultWorkerPath)); assembly != "" {
		if !filepath.IsAbs(assembly) {
			assembly = filepath.Join(root, assembly)
		}
		if !own && !isFile(assembly) {
			return nil, s.notFound(fmt.Sprintf("%s in %q names the assembly %q, which is missing", configFile, root, assembly), again)
		}
		f.Args = append(f.Args, assembly)
	} else if !own {
		return nil, s.notFound(fmt.Sprintf("%s in %q names no assembly", configFile, root), again)
	}
	f.Args = append(f.Args, strings.Fields(s.Setting("languageWorkers:"+languages.Dotnet+":arguments"))...)
	if f.Processes, err = s.processes(d.processes); err != nil {
		return nil, err
	}
	if metadata := filepath.Join(root, worker.MetadataFile); isFile(metadata) {
		f.Metadata = metadata
	} else if !f.Indexing {
		return nil, s.notFound(fmt.Sprintf("%s in %q leaves the functions to %s, which is missing", configFile, root, worker.MetadataFile), again)
	}
	return f, nil
}

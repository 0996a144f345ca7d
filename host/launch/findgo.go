package launch

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/redeliver/redeliver/host/worker"
)

// GoProgram is the program of an app with the platform's own worker for Go, below the
// app's folder, unless languageWorkers:native:defaultExecutablePath names another: the
// app is its own worker (spec workers 3.1).
const GoProgram = "bin/app"

// native looks for the program of an app with the platform's own worker for Go.
func (s *Search) native() (*Found, error) {
	named := cmp.Or(s.Setting("languageWorkers:"+s.Language+":defaultExecutablePath"), GoProgram)
	path := filepath.FromSlash(named)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.App, path)
	}
	if runtime.GOOS == "windows" && !isFile(path) {
		path += ".exe"
	}
	if !isFile(path) {
		return nil, s.notFound(fmt.Sprintf("the app has not been built: there is no program %q in its folder", named), "run \"go build -o "+GoProgram+" .\"")
	}
	f := &Found{Language: s.Language, Path: path, Directory: s.App, Transport: worker.GRPC, Indexing: true, Env: []string{"FUNCTIONS_WORKER_DIRECTORY=" + s.App}}
	var err error
	f.Processes, err = s.processes(processOptions{})
	return f, err
}

package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// configFile describes a worker (spec workers 3.3).
const configFile = "worker.config.json"

// description is what is read of it. Profiles are not: their conditions are about
// the cloud.
type description struct {
	Language                  string
	Extensions                []string
	DefaultExecutablePath     string
	DefaultWorkerPath         string
	Arguments                 []string
	WorkerIndexing            text
	DefaultRuntimeVersion     string
	SupportedRuntimeVersions  []string
	SupportedOperatingSystems []string
	SupportedArchitectures    []string
	IsDisabled                bool

	SanitizeRuntimeVersionRegex string

	processes processOptions
}

// text is a word that may be given as a boolean.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	*t = text(strings.Trim(string(raw), `"`))
	return nil
}

func readDescription(dir string) (*description, error) {
	raw, err := os.ReadFile(filepath.Join(dir, configFile))
	if err != nil {
		return nil, err
	}
	var config struct {
		Description    *description
		ProcessOptions processOptions
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	d := config.Description
	switch {
	case d == nil:
		return nil, errNoDescription
	case d.IsDisabled:
		return nil, fmt.Errorf("%s says that the worker is disabled", configFile)
	case len(d.SupportedOperatingSystems) > 0 && !slices.ContainsFunc(d.SupportedOperatingSystems, func(s string) bool { return strings.EqualFold(s, systemName()) }):
		return nil, fmt.Errorf("it does not support %s", runtime.GOOS)
	case len(d.SupportedArchitectures) > 0 && !slices.ContainsFunc(d.SupportedArchitectures, func(s string) bool { return strings.EqualFold(s, architectureName()) }):
		return nil, fmt.Errorf("it does not support %s", runtime.GOARCH)
	}
	d.processes = config.ProcessOptions
	return d, nil
}

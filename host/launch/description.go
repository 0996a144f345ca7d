package launch

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

// description is what is read of it.
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
	IsDisabled                text

	SanitizeRuntimeVersionRegex string

	processes processOptions
}

// text is a word that may be given as a boolean.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	*t = text(strings.Trim(string(raw), `"`))
	return nil
}

// readDescription reads the description of the worker in a folder. setting is
// Search.Setting, for the conditions of profiles; nil: they do not count.
func readDescription(dir string, setting func(string) string) (*description, error) {
	raw, err := os.ReadFile(filepath.Join(dir, configFile))
	if err != nil {
		return nil, err
	}
	var config struct {
		Description    *description
		ProcessOptions processOptions
		Profiles       []profile
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	d := config.Description
	if d == nil {
		return nil, errNoDescription
	}
	if setting != nil {
		if err := d.apply(config.Profiles, setting); err != nil {
			return nil, err
		}
	}
	switch {
	case strings.EqualFold(string(d.IsDisabled), "true"):
		return nil, fmt.Errorf("%s says that the worker is disabled", configFile)
	case len(d.SupportedOperatingSystems) > 0 && !slices.ContainsFunc(d.SupportedOperatingSystems, func(s string) bool { return strings.EqualFold(s, systemName()) }):
		return nil, fmt.Errorf("it does not support %s", runtime.GOOS)
	case len(d.SupportedArchitectures) > 0 && !slices.ContainsFunc(d.SupportedArchitectures, func(s string) bool { return strings.EqualFold(s, architectureName()) }):
		return nil, fmt.Errorf("it does not support %s", runtime.GOARCH)
	}
	d.processes = config.ProcessOptions
	return d, nil
}

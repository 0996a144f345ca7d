package schemas

import (
	"embed"
	"slices"
)

// A Name names one of the embedded schemas.
type Name string

// The schemas.
const (
	HostJSON      Name = "host.json"
	FunctionJSON  Name = "function.json"
	LocalSettings Name = "local.settings.json"
	WorkerConfig  Name = "worker.config.json"
	Journal       Name = "journal.json"
	Scenario      Name = "scenario.json"
)

//go:embed *.json
var files embed.FS

// Names returns all names, in the order in which a reader meets the files.
func Names() []Name {
	return []Name{HostJSON, FunctionJSON, LocalSettings, WorkerConfig, Journal, Scenario}
}

// Schema returns the text of a schema: the file schemas/<name>, JSON Schema draft
// 2020-12. It returns nil for a name that is not in [Names].
func Schema(name Name) []byte {
	if !slices.Contains(Names(), name) {
		return nil
	}
	text, err := files.ReadFile(string(name))
	if err != nil {
		panic("schemas: " + err.Error()) // embedded: it is there, or the build is broken
	}
	return text
}

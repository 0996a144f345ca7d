package worker

import (
	"os"
	"path/filepath"

	"github.com/redeliver/redeliver/functions/call"
)

// Written are the functions that the build of a .NET app has written down in an output
// folder: what its worker would declare, without a start (spec workers-dotnet-java 1.3).
func Written(output string) ([]call.Declaration, error) {
	found, err := readMetadata(filepath.Join(output, MetadataFile))
	if err != nil {
		return nil, err
	}
	list := []call.Declaration{}
	for _, f := range found {
		d, err := declarationOf(f)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// LatestOutput is the folder of the newest build of a .NET app among those that match the
// patterns of package filepath; empty for none.
func LatestOutput(patterns ...string) (folder string) {
	var last int64
	for _, pattern := range patterns {
		files, _ := filepath.Glob(filepath.Join(pattern, MetadataFile)) // the patterns are the program's
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.ModTime().UnixNano() > last {
				folder, last = filepath.Dir(file), info.ModTime().UnixNano()
			}
		}
	}
	return folder
}

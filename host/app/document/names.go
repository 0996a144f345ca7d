package document

import (
	"errors"
	"io/fs"
)

// The files of an app and the other places that a fault can name.
const (
	HostFile        = "host.json"
	FunctionFile    = "function.json"
	LocalFile       = "local.settings.json"
	ProxiesFile     = "proxies.json"
	EnvironmentFile = "environment"
	SetFile         = "--set"
	CodeFile        = "code"
)

// Cause returns an error of package os without the path, which differs from
// machine to machine.
func Cause(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

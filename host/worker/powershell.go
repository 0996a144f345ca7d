package worker

import (
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/languages"
)

// sayDependencies tells that a worker installs modules, for which its first calls wait.
func (c *conn) sayDependencies() {
	if c.spec.ManagedDependencies && c.spec.Language == languages.PowerShell && c.spec.Notice != nil {
		c.spec.Notice(call.Log{Level: call.Information, Message: "managedDependency is enabled: the worker installs the modules of requirements.psd1 from the PowerShell Gallery, and the first call may wait for that"})
	}
}

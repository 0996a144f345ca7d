package app

import (
	"fmt"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// applyPolicy decides the effective policy (spec host-and-retry 1.5): the function's
// own as a whole, else the app's. Then the switches apply: retryCounting
// "documented" (D-1), retryTriggers "ga" (D-2).
func (l *loader) applyPolicy(f *Function) {
	if !f.own {
		l.inheritPolicy(f)
	}
	f.Policy = f.Original
	if l.app.Switches.RetryCounting == "documented" {
		f.Policy = f.Original.Documented()
	}
	if l.app.Switches.RetryTriggers == "ga" && f.Kind != nil && !f.Kind.OfficialRetry {
		f.Policy = nil
	}
}

func (l *loader) inheritPolicy(f *Function) {
	policy := l.app.Config.Retry
	if policy == nil {
		return
	}
	if l.app.Config.RetryFrom == document.HostFile {
		f.setPolicy(policy, FromApp, document.HostFile, "retry")
		return
	}
	f.setPolicy(policy, FromEnvironment, document.EnvironmentFile, "retry")
	for _, p := range document.PolicyProperties {
		if source := l.app.hostDoc.Source("retry." + p); source != document.HostFile {
			f.PolicyFile = source
		}
	}
}

// RetrySupportWarning returns the warning that the platform logs once, when it
// indexes a function whose trigger is not marked as supporting retries; nil for
// any other function. The policy stays active (spec host-and-retry 2.7; sdk:
// FunctionIndexer.cs CheckRetrySupport).
func (f *Function) RetrySupportWarning() *schemas.Fault {
	if f.Policy == nil || f.Kind == nil || f.Kind.OfficialRetry {
		return nil
	}
	w := &schemas.Fault{
		File: f.PolicyFile, Path: f.PolicyPath,
		Reason: fmt.Sprintf("the platform does not officially support retries on %s and may drop them; here, and there until then, the policy is active", f.Kind.Type),
		Hint:   "https://aka.ms/func-retry-policies",
	}
	return w
}

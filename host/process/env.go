package process

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/functions/call"
)

// azureVariables make language libraries believe that they run in Azure; they
// leak in from a developer's container or from CI (spec workers 3.2).
func azureVariables() []string {
	return []string{"CONTAINER_NAME", "WEBSITE_INSTANCE_ID", "WEBSITE_PLACEHOLDER_MODE"}
}

// environment is what a process gets: given (the host's own when nil) without
// the variables of Azure, then more.
func environment(given, more []string) []string {
	if given == nil {
		given = os.Environ()
	}
	env := make([]string, 0, len(given)+len(more)+1)
	for _, kv := range given {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(azureVariables(), func(v string) bool { return strings.EqualFold(v, name) }) {
			env = append(env, kv)
		}
	}
	env = append(env, more...)
	return append(env, call.HostPIDVariable+"="+strconv.Itoa(os.Getpid()))
}

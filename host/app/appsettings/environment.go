package appsettings

import "strings"

// Environment makes a map of entries "NAME=VALUE", for Options.Env; the last of several with one
// name wins.
func Environment(entries []string) map[string]string {
	env := make(map[string]string, len(entries))
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}

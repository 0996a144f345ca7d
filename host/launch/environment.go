package launch

import (
	"maps"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/services"
)

// Environment is the environment of a handler process: the host's own and the values of
// local.settings.json (spec workers 3.2). Which connections are not as the app has them is
// said once.
func Environment(a *app.App, own []string, website string, c *services.Connections, told *Notices, log zerolog.Logger) []string {
	entries := slices.Clone(own)
	local := a.Settings.Local()
	for _, name := range slices.Sorted(maps.Keys(local)) {
		entries = append(entries, name+"="+local[name])
	}
	env, adopted := c.Environment(entries)
	for _, one := range adopted {
		if told.first("identity " + one.Name) {
			log.Warn().Str("connection", one.Name).Strs("settings", one.Parts).
				Msg("the handlers get a connection string of this host in the place of an identity, since there is no managed identity here")
		}
	}
	const hostname = "WEBSITE_HOSTNAME="
	set := func(entry string) bool {
		return len(entry) >= len(hostname) && strings.EqualFold(entry[:len(hostname)], hostname)
	}
	if website != "" && !slices.ContainsFunc(env, set) {
		env = append(env, hostname+website)
	}
	return append(env,
		"FUNCTIONS_APPLICATION_DIRECTORY="+a.Dir,
		"AZURE_FUNCTIONS_ENVIRONMENT=Development",
	)
}

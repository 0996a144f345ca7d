package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/launch"
)

// The first profile of a worker whose conditions all hold is laid over its description
// (spec workers 3.3): azure-functions-host, Workers/Profiles.
func TestProfiles(t *testing.T) {
	platform := map[string]string{"darwin": "OSX", "windows": "WINDOWS"}[runtime.GOOS]
	if platform == "" {
		platform = "LINUX"
	}
	profile := func(conditions, description string) string {
		return `{"profileName": "p", "conditions": [` + conditions + `], "description": ` + description + `}`
	}
	environment := func(name, expression string) string {
		return `{"conditionType": "environment", "conditionName": "` + name + `", "conditionExpression": "` + expression + `"}`
	}
	host := func(name, expression string) string {
		return `{"conditionType": "hostProperty", "conditionName": "` + name + `", "conditionExpression": "` + expression + `"}`
	}
	const other = `{"arguments": ["--other"]}`
	for _, tt := range []struct {
		name     string
		profiles []string
		want     string // the arguments
		fault    string
	}{
		{name: "none", want: "--usual first.js"},
		{name: "holds", profiles: []string{profile(environment("AGENT", "^(?i)TRUE$"), other)}, want: "--other first.js"},
		{name: "does not fit", profiles: []string{profile(environment("AGENT", "^1$"), other)}, want: "--usual first.js"},
		{name: "no value", profiles: []string{profile(environment("ABSENT", ".*"), other)}, want: "--usual first.js"},
		{name: "one of two does not hold", profiles: []string{profile(environment("AGENT", "true")+","+environment("ABSENT", ".*"), other)}, want: "--usual first.js"},
		{name: "the first that holds", profiles: []string{
			profile(environment("ABSENT", ".*"), `{"arguments": ["--no"]}`),
			profile(environment("AGENT", "true"), `{"defaultWorkerPath": "second.js"}`),
			profile(environment("AGENT", "true"), other),
		}, want: "--usual second.js"},
		{name: "platform", profiles: []string{profile(host("platform", "^"+platform+"$"), other)}, want: "--other first.js"},
		{name: "sku", profiles: []string{profile(host("sku", "Dynamic"), other)}, want: "--other first.js"},
		{name: "version of the platform's host", profiles: []string{profile(host("hostVersion", ".*"), other)}, want: "--usual first.js"},
		{name: "unknown type", profiles: []string{profile(`{"conditionType": "phase", "conditionName": "AGENT", "conditionExpression": ".*"}`, other)}, want: "--usual first.js"},
		{name: "no conditions", profiles: []string{profile("", other)}, want: "--usual first.js"},
		{name: "no expression", profiles: []string{profile(environment("AGENT", "("), other)}, fault: "profiles[0].conditions[0].conditionExpression"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{
				"first.js": "", "second.js": "",
				"worker.config.json": `{"description": {"language": "node", "extensions": [".js"], "arguments": ["--usual"], "defaultWorkerPath": "first.js", "isDisabled": "false"},
					"profiles": [` + strings.Join(tt.profiles, ",") + `]}`,
			} {
				check(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			settings := map[string]string{"languageWorkers:node:defaultExecutablePath": os.Args[0], "AGENT": "true", "WEBSITE_SKU": "Dynamic"}
			found, err := launch.Find(launch.Search{
				Language: "node", App: t.TempDir(), Prefer: dir, Setting: func(name string) string { return settings[name] },
			})
			if tt.fault != "" {
				var missing *launch.NotFoundError
				if !errors.As(err, &missing) || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("Find: %v, want one about %s", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			args := slices.Clone(found.Args)
			for i, arg := range args {
				args[i] = strings.TrimPrefix(arg, dir+string(filepath.Separator))
			}
			if got := strings.Join(args, " "); got != tt.want {
				t.Errorf("arguments %q, want %q", got, tt.want)
			}
		})
	}
}

package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/launch"
)

// How many processes there are is said by the worker's description and by the app, whose
// word wins (spec workers 3.3).
func TestProcessCount(t *testing.T) {
	t.Parallel()
	with := func(change func(p *launch.Processes)) launch.Processes {
		p := usual
		change(&p)
		return p
	}
	for name, tt := range map[string]struct {
		options, setting, arguments string
		want                        launch.Processes
		fault                       string
	}{
		"nothing":          {want: usual},
		"setting":          {setting: " 4 ", want: with(func(p *launch.Processes) { p.Count = 4 })},
		"setting of zero":  {setting: "0", want: usual},
		"setting below":    {setting: "-2", options: `"processCount": 3`, want: usual},
		"setting too high": {setting: "11", fault: `FUNCTIONS_WORKER_PROCESS_COUNT is "11", which is no number from 1 to 10`},
		"setting no number": {setting: "many", options: `"maxProcessCount": 2`,
			fault: `FUNCTIONS_WORKER_PROCESS_COUNT is "many", which is no number from 1 to 2`},
		"options": {
			options: `"processCount": 3, "processStartupInterval": "00:00:02", "processRestartInterval": "00:00:00", "processStartupTimeout": "00:01:30", "initializationTimeout": "00:03:00"`,
			want:    launch.Processes{Count: 3, StartInterval: 2 * time.Second, StartTimeout: 90 * time.Second, InitTimeout: 3 * time.Minute},
		},
		"options, and the setting": {setting: "2", options: `"processCount": 3`, want: with(func(p *launch.Processes) { p.Count = 2 })},
		"options too high":         {options: `"processCount": 11`, fault: "processCount in worker.config.json is 11, more than maxProcessCount, 10"},
		"options no time span":     {options: `"processStartupInterval": "soon"`, fault: `worker.config.json: `},
		"debugger":                 {setting: "4", arguments: "--inspect=9229", want: usual},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			config := `{"description": {"language": "node", "extensions": [".js"]}, "processOptions": {` + tt.options + `}}`
			if err := os.WriteFile(filepath.Join(dir, "worker.config.json"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			settings := map[string]string{
				"languageWorkers:node:defaultExecutablePath": os.Args[0], "languageWorkers:node:arguments": tt.arguments, launch.CountVariable: tt.setting,
			}
			search := launch.Search{Language: "node", App: dir, Prefer: dir, Setting: func(name string) string { return settings[name] }}
			found, err := launch.Find(search)
			if tt.fault != "" {
				none, ok := errors.AsType[*launch.NotFoundError](err)
				if !ok || !strings.Contains(none.Reason, tt.fault) || none.Hint == "" {
					t.Errorf("got %+v, want %q", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, found.Processes); diff != "" {
				t.Errorf("processes (-want +got):\n%s", diff)
			}
		})
	}
}

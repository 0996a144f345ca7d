package app_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
)

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	if _, err := app.Load(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of a missing folder: got %v, want fs.ErrNotExist", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Load(file, nil); err == nil {
		t.Error("Load of a file: got no error")
	}
}

func TestEmptyFolder(t *testing.T) {
	t.Parallel()
	a, err := app.Load(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !a.OK() || len(a.Functions) != 0 || !a.MissingHostJSON || a.Handler.Kind != app.NoHandler {
		t.Errorf("empty folder: got OK %v, %d functions, missing host.json %v, handler %q", a.OK(), len(a.Functions), a.MissingHostJSON, a.Handler.Kind)
	}
}

// Section 6.1: a missing file and an empty object get a default, which Load
// offers and does not write.
func TestDefaultHostJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, host    string
		want, exclude []string
		missing       bool
	}{
		{name: "missing", host: "-", want: []string{`"version": "2.0"`, "isDefaultHostConfig", "Microsoft.Azure.Functions.ExtensionBundle", "[4.*, 5.0.0)"}, missing: true},
		{name: "empty object", host: "{}", want: []string{`"version": "2.0"`}, exclude: []string{"extensionBundle"}, missing: true},
		{name: "present", host: `{"version": "2.0"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, map[string]string{"host.json": tt.host}, nil)
			wantNoFaults(t, a)
			if a.MissingHostJSON != tt.missing {
				t.Errorf("MissingHostJSON: got %v, want %v", a.MissingHostJSON, tt.missing)
			}
			text := string(a.DefaultHostJSON())
			if (text != "") != tt.missing {
				t.Errorf("DefaultHostJSON: got %q", text)
			}
			for _, s := range tt.want {
				if !strings.Contains(text, s) {
					t.Errorf("DefaultHostJSON %q lacks %q", text, s)
				}
			}
			for _, s := range tt.exclude {
				if strings.Contains(text, s) {
					t.Errorf("DefaultHostJSON %q has %q", text, s)
				}
			}
			if _, err := os.Stat(filepath.Join(a.Dir, "host.json")); tt.host == "-" && err == nil {
				t.Error("Load wrote host.json")
			}
			if text == "" {
				return
			}
			again := load(t, map[string]string{"host.json": text}, nil)
			wantNoFaults(t, again)
			if again.MissingHostJSON {
				t.Error("the default counts as missing again")
			}
		})
	}
}

// Section 5.1.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{
		"beta/function.json":                        functionJSON(timerBinding, ""),
		"Alpha/function.json":                       functionJSON(timerBinding, ""),
		"under_score/function.json":                 functionJSON(timerBinding, ""),
		"lib/deep/function.json":                    functionJSON(timerBinding, ""),
		"nothing/readme.txt":                        "no function",
		"function.json":                             "not one either",
		strings.Repeat("x", 128) + "/function.json": functionJSON(timerBinding, ""),
		strings.Repeat("y", 129) + "/function.json": functionJSON(timerBinding, ""),
	}, nil)
	var names, broken []string
	for _, f := range a.Functions {
		names = append(names, f.Name)
		if f.InError() {
			broken = append(broken, f.Name)
		}
	}
	want := []string{"Alpha", "beta", "under_score", strings.Repeat("x", 128), strings.Repeat("y", 129)}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{strings.Repeat("y", 129)}, broken); diff != "" {
		t.Errorf("in error (-want +got):\n%s", diff)
	}
	if f := a.Function("ALPHA"); f == nil || f.Name != "Alpha" {
		t.Errorf("Function ignores no case: got %v", f)
	}
	if got := string(function(t, a, "beta").Config); !strings.HasPrefix(got, `{"bindings":[{"type":"timerTrigger"`) {
		t.Errorf("Config: got %s", got)
	}
}

func TestAllowList(t *testing.T) {
	t.Parallel()
	files := map[string]string{"host.json": `{"version": "2.0", "functions": ["b", "C"]}`}
	for _, name := range []string{"A", "B", "C"} {
		files[name+"/function.json"] = functionJSON(timerBinding, "")
	}
	names := func(opts *app.Options) (list []string) {
		opts.InProcess = true
		for _, f := range load(t, files, opts).Functions {
			list = append(list, f.Name)
		}
		return list
	}
	if got := names(&app.Options{}); !slices.Equal(got, []string{"B", "C"}) {
		t.Errorf("list of host.json: got %v", got)
	}
	if got := names(&app.Options{Functions: []string{"a"}}); !slices.Equal(got, []string{"A", "C"}) {
		t.Errorf("--functions replaces the first entry: got %v", got)
	}
	if got := names(&app.Options{Env: map[string]string{"AzureFunctionsJobHost__functions__1": "A"}}); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("override of one entry: got %v", got)
	}
	files["host.json"] = `{"version": "2.0", "functions": []}`
	if got := names(&app.Options{}); !slices.Equal(got, []string{"A", "B", "C"}) {
		t.Errorf("an empty list means all: got %v", got)
	}
}

// Section 5.6.
func TestDisabled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, further string
		env           map[string]string
		want          bool
		by            string
	}{
		{name: "nothing"},
		{name: "setting 1", env: map[string]string{"AzureWebJobs.Tick.Disabled": "1"}, want: true, by: "setting AzureWebJobs.Tick.Disabled"},
		{name: "setting True, other case", env: map[string]string{"azurewebjobs.tick.disabled": "TRUE"}, want: true, by: "setting AzureWebJobs.Tick.Disabled"},
		{name: "setting yes", env: map[string]string{"AzureWebJobs.Tick.Disabled": "yes"}},
		{name: "underscores", env: map[string]string{"AzureWebJobs_Tick_Disabled": "true"}, want: true, by: "setting AzureWebJobs_Tick_Disabled"},
		{name: "file", further: `"disabled": true`, want: true, by: "Tick/function.json"},
		{name: "file false", further: `"disabled": false`},
		{name: "setting wins over file", further: `"disabled": true`, env: map[string]string{"AzureWebJobs.Tick.Disabled": "false"}},
		{name: "file names a setting", further: `"disabled": "OFF"`, env: map[string]string{"off": "1"}, want: true, by: "setting OFF"},
		{name: "file names a setting that is false", further: `"disabled": "OFF"`, env: map[string]string{"OFF": "0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, map[string]string{"Tick/function.json": functionJSON(timerBinding, tt.further)}, &app.Options{InProcess: true, Env: tt.env})
			wantNoFaults(t, a)
			f := function(t, a, "tick")
			if f.Disabled != tt.want || f.DisabledBy != tt.by {
				t.Errorf("got %v by %q, want %v by %q", f.Disabled, f.DisabledBy, tt.want, tt.by)
			}
			if f.Kind == nil || f.Trigger == nil {
				t.Error("a disabled function is still loaded")
			}
		})
	}
}

// Section 11.1; the example is the specification's.
func TestHostID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ machine, path, want string }{
		{"DEV-PC1", "/home/dev/app", "devpc1-1245021457"},
		{strings.Repeat("A", 40), "/x", strings.Repeat("a", 32)},
		{strings.Repeat("b", 31), "/x", strings.Repeat("b", 31)},
	} {
		if got := app.LocalHostID(tt.machine, tt.path); got != tt.want {
			t.Errorf("LocalHostID(%q, %q): got %q, want %q", tt.machine, tt.path, got, tt.want)
		}
	}
	files := map[string]string{}
	for _, tt := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"setting", map[string]string{"AzureFunctionsWebHost__hostid": "mine"}, "mine"},
		{"app service", map[string]string{"WEBSITE_SITE_NAME": "Shop", "WEBSITE_INSTANCE_ID": "1", "WEBSITE_SLOT_NAME": "Stage"}, "shop-stage"},
		{"app service, production", map[string]string{"WEBSITE_SITE_NAME": "Shop", "WEBSITE_INSTANCE_ID": "1", "WEBSITE_SLOT_NAME": "Production"}, "shop"},
		{"linux consumption", map[string]string{"WEBSITE_HOSTNAME": "Shop.azurewebsites.net", "CONTAINER_NAME": "c"}, "shop"},
	} {
		if got := load(t, files, &app.Options{InProcess: true, Env: tt.env}).ID; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := load(t, files, &app.Options{InProcess: true, MachineName: "box"}).ID; !strings.HasPrefix(got, "box-") {
		t.Errorf("local: got %q", got)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"Tick/function.json": functionJSON(timerBinding, ""),
		"main.go":            "package main\n\nimport _ \"github.com/redeliver/redeliver/functions\"\n\nfunc main() {}\n",
		"README.md":          "one",
	}
	dir := writeApp(t, files)
	print := func(opts *app.Options) string { return loadDir(t, dir, opts).Fingerprint }
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	base := print(&app.Options{})
	if again := print(&app.Options{}); again != base {
		t.Error("the same app has two fingerprints")
	}
	write("README.md", "two")
	if print(&app.Options{}) != base {
		t.Error("a file that does not matter changes the fingerprint")
	}
	for _, opts := range []*app.Options{{Set: []string{"wakeUp=faithful"}}, {Env: map[string]string{"X": "1"}}, {Functions: []string{"Tick"}}} {
		if print(opts) == base {
			t.Errorf("options %+v do not change the fingerprint", opts)
		}
	}
	handler := loadDir(t, dir, &app.Options{}).Handler.Fingerprint
	for _, change := range []struct{ name, text string }{
		{"Tick/function.json", functionJSON(timerBinding, `"disabled": true`)},
		{"host.json", `{"version": "2.0", "functionTimeout": "00:01:00"}`},
	} {
		write(change.name, change.text)
		next := print(&app.Options{})
		if next == base {
			t.Errorf("a change of %s does not change the fingerprint", change.name)
		}
		base = next
	}
	if got := loadDir(t, dir, &app.Options{}).Handler.Fingerprint; got != handler {
		t.Error("a change of configuration changes the handler's fingerprint")
	}
	// Only the builder of the Go program knows its sources.
	sources := func(text string) *app.Options {
		return &app.Options{Sources: func(string) string { return text }}
	}
	if print(sources("one")) == print(sources("two")) {
		t.Error("a change of the source does not change the fingerprint")
	}
	started := loadDir(t, dir, sources("one")).Handler
	if print(&app.Options{Handler: &started, Sources: sources("two").Sources}) != print(sources("one")) {
		t.Error("an app with a handler that was started before looks for another one")
	}
}

// Section 8.
func TestFunctionTimeout(t *testing.T) {
	t.Parallel()
	dynamic := map[string]string{"WEBSITE_SKU": "Dynamic"}
	for _, tt := range []struct {
		name, value string
		env         map[string]string
		want        time.Duration
		fault       bool
	}{
		{name: "unset", value: `null`, want: 30 * time.Minute},
		{name: "unset, consumption", value: `null`, env: dynamic, want: 5 * time.Minute},
		{name: "hours", value: `"02:00:00"`, want: 2 * time.Hour},
		{name: "lower bound", value: `"00:00:01"`, want: time.Second},
		{name: "below", value: `"00:00:00.9"`, want: 30 * time.Minute, fault: true},
		{name: "unlimited", value: `"-1"`, want: 0},
		{name: "unlimited as number", value: `-1`, want: 0},
		{name: "negative", value: `"-00:00:01"`, want: 30 * time.Minute, fault: true},
		{name: "consumption, upper bound", value: `"00:10:00"`, env: dynamic, want: 10 * time.Minute},
		{name: "consumption, above", value: `"00:10:01"`, env: dynamic, want: 5 * time.Minute, fault: true},
		{name: "consumption, unlimited", value: `"-1"`, env: dynamic, want: 5 * time.Minute, fault: true},
		{name: "override", value: `"00:05:00"`, env: map[string]string{"AzureFunctionsJobHost__functionTimeout": "00:07:00"}, want: 7 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, map[string]string{"host.json": `{"version": "2.0", "functionTimeout": ` + tt.value + `}`}, &app.Options{InProcess: true, Env: tt.env})
			if a.Config.FunctionTimeout != tt.want || a.OK() == tt.fault {
				t.Errorf("got %v, faults %v; want %v, fault %v", a.Config.FunctionTimeout, a.Faults, tt.want, tt.fault)
			}
		})
	}
}

package app_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// What a build writes is known for each language with a build of its own; an app lacks what
// is gone, empty or cut off, and not what is new or another.
func TestLacks(t *testing.T) {
	t.Parallel()
	java := map[string]string{
		"pom.xml": "azure-functions-maven-plugin", "host.json": `{"version": "2.0"}`, "target/classes/A.class": "x",
		"target/azure-functions/shop/host.json": "{}", "target/azure-functions/shop/Orders/function.json": "{}", "target/azure-functions/shop/shop.jar": "jar",
	}
	typescript := map[string]string{
		"package.json": `{"main": "dist/{index.js,functions/*.js}", "dependencies": {"@azure/functions": "^4.0.0"}}`, "tsconfig.json": "{}", "host.json": `{"version": "2.0"}`,
		"dist/index.js": "1", "dist/functions/a.js": "2", "src/a.ts": "3",
	}
	published := map[string]string{
		"worker.config.json": "{}", ".azurefunctions/x.dll": "x", "host.json": `{"version": "2.0"}`, "App.dll": "x", "functions.metadata": "[]", "App.pdb": "x",
		"local.settings.json": `{"Values": {"FUNCTIONS_WORKER_RUNTIME": "dotnet-isolated"}}`,
	}
	program := map[string]string{
		"host.json": `{"version": "2.0", "customHandler": {"description": {"defaultExecutablePath": "bin/handler"}}}`, "bin/handler": "x",
		"local.settings.json": `{"Values": {"FUNCTIONS_WORKER_RUNTIME": "custom"}}`,
	}
	for name, tt := range map[string]struct {
		files   map[string]string
		lacking []string
		others  []string
	}{
		"Java":                     {java, []string{"target/azure-functions/shop/Orders/function.json", "target/azure-functions/shop/shop.jar", "target/azure-functions/shop/host.json"}, []string{"target/classes/A.class", "pom.xml"}},
		"TypeScript":               {typescript, []string{"dist/index.js", "dist/functions/a.js"}, []string{"src/a.ts", "package.json"}},
		".NET, as it is published": {published, []string{"App.dll", "functions.metadata"}, []string{"App.pdb"}},
		"a program":                {program, []string{"bin/handler"}, nil},
		"no build":                 {map[string]string{"host.json": `{"version": "2.0"}`, "package.json": typescript["package.json"], "dist/index.js": "1"}, nil, []string{"dist/index.js"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put := func(name, text string) {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if text != "jar" {
					if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
						t.Fatal(err)
					}
					return
				}
				f, err := os.Create(path)
				if err == nil {
					err = zip.NewWriter(f).Close()
				}
				if err == nil {
					err = f.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			load := func() *app.App {
				a, err := app.Load(dir, nil)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			for name, text := range tt.files {
				put(name, text)
			}
			before := load()
			if got := before.Lacks(before); got != "" {
				t.Errorf("the app lacks %s of itself", got)
			}
			for _, name := range tt.lacking {
				path := filepath.Join(dir, filepath.FromSlash(name))
				for how, change := range map[string]func() error{
					"gone":  func() error { return os.Remove(path) },
					"empty": func() error { return os.WriteFile(path, nil, 0o700) },
				} {
					if err := change(); err != nil {
						t.Fatal(err)
					}
					if got := load().Lacks(before); got != name {
						t.Errorf("%s is %s: the app lacks %q", name, how, got)
					}
					put(name, tt.files[name])
				}
				if tt.files[name] == "jar" {
					put(name, "PK: the beginning")
					if got := load().Lacks(before); got != name {
						t.Errorf("%s is cut off: the app lacks %q", name, got)
					}
					put(name, "jar")
				}
			}
			for _, name := range tt.others {
				if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
					t.Fatal(err)
				}
				if got := load().Lacks(before); got != "" {
					t.Errorf("without %s the app lacks %q", name, got)
				}
			}
		})
	}
}

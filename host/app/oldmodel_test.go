package app_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// An app of the in-process model does not start. The fault names the sign that was found,
// the date and the way out, whatever the sign is (spec workers-dotnet-java 1.15).
func TestInProcessSigns(t *testing.T) {
	t.Parallel()
	const function = `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "q", "queueName": "orders"}]}`
	for name, tt := range map[string]struct {
		files map[string]string
		env   map[string]string
		file  string
		sign  string
	}{
		"setting": {env: map[string]string{"FUNCTIONS_WORKER_RUNTIME": "dotnet"}, file: "environment", sign: "FUNCTIONS_WORKER_RUNTIME is dotnet"},
		"package": {
			files: map[string]string{"App.csproj": `<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="Microsoft.NET.Sdk.Functions" Version="4.4.0" /></ItemGroup></Project>`},
			file:  "App.csproj", sign: "App.csproj has package Microsoft.NET.Sdk.Functions",
		},
		"assembly": {
			files: map[string]string{"bin/App.dll": "", "F/function.json": strings.Replace(function, `{"bindings"`, `{"scriptFile": "../bin/App.dll", "entryPoint": "Shop.F.Run", "bindings"`, 1)},
			file:  "bin/App.dll", sign: "bin/App.dll",
		},
		"script": {files: map[string]string{"F/function.json": function, "F/run.csx": ""}, file: "F/run.csx", sign: "F/run.csx"},
		"script, with the setting": {
			files: map[string]string{"F/function.json": function, "F/run.csx": ""}, env: map[string]string{"FUNCTIONS_WORKER_RUNTIME": "dotnet"},
			file: "F/run.csx", sign: "F/run.csx",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"AzureWebJobsStorage": "UseDevelopmentStorage=true"}
			for k, v := range tt.env {
				env[k] = v
			}
			a := load(t, tt.files, &app.Options{Env: env})
			f := a.Obstacle
			if f == nil {
				t.Fatalf("nothing is wrong; the handler is %+v", a.Handler)
			}
			want := "the functions of this app are written for the in-process model of .NET (" + tt.sign + "), whose support ended on 10 November 2026: "
			if f.File != tt.file || !strings.HasPrefix(f.Reason, want) || !strings.HasPrefix(f.Hint, "move them to the isolated model (package Microsoft.Azure.Functions.Worker), scripts to a project of their own") {
				t.Errorf("got %s: %s\nhint: %s\nwant %s: %s", f.File, f.Reason, f.Hint, tt.file, want)
			}
			if report := app.Check(a); report.OK() {
				t.Error("check finds no error")
			}
		})
	}
}

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
)

const secretProject = `<Project Sdk="Microsoft.NET.Sdk">
  <!-- <UserSecretsId>of before</UserSecretsId> -->
  <PropertyGroup><UserSecretsId> shop-1 </UserSecretsId></PropertyGroup>
  <ItemGroup><PackageReference Include="Microsoft.Azure.Functions.Worker.Sdk" Version="2.1.0" /></ItemGroup>
</Project>`

// User secrets are settings of the app, above those of the environment and of
// local.settings.json, with the names that .NET's configuration gives them (dotnet/runtime:
// JsonConfigurationFileParser.cs). They are read again at each load.
func TestUserSecrets(t *testing.T) {
	t.Parallel()
	const local = `{"IsEncrypted": false, "Values": {"A": "file", "B": "file", "FUNCTIONS_WORKER_RUNTIME": "dotnet-isolated"}}`
	const where = "home/.microsoft/usersecrets/shop-1/secrets.json"
	files := map[string]string{
		"app/host.json": `{"version": "2.0"}`, "app/App.csproj": secretProject, "app/local.settings.json": local,
		where: `{
			// comments are fine
			"B": "secret", "C": "secret", "Nested": {"Deep": {"X": 1.50}, "List": ["a", {"y": true}]}, "Nothing": null, "None": {},
		}`,
	}
	dir := writeApp(t, files)
	opts := func(settings *appsettings.Settings) *app.Options {
		return &app.Options{Settings: settings, Env: map[string]string{"C": "environment", "HOME": filepath.Join(dir, "home")}}
	}
	a := loadDir(t, filepath.Join(dir, "app"), opts(nil))
	want := map[string]string{
		"A": "file", "B": "secret", "C": "secret", "Nested:Deep:X": "1.50", "Nested:List:0": "a", "Nested:List:1:y": "True", "Nothing": "",
		"FUNCTIONS_WORKER_RUNTIME": "dotnet-isolated",
	}
	if diff := cmp.Diff(want, a.Settings.Local()); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if got := a.Settings.SecretsFile(); got != filepath.Join(dir, filepath.FromSlash(where)) {
		t.Errorf("the file is %s", got)
	}
	for name, want := range map[string]string{"A": "local.settings.json", "b": "secrets.json", "HOME": "environment"} {
		if got := a.Settings.Source(name); got != want {
			t.Errorf("%s stands in %s, want %s", name, got, want)
		}
	}

	// What has gone is gone, and what it hid is back; local.settings.json stays as it was.
	write(t, filepath.Join(dir, filepath.FromSlash(where)), `{"C": "new"}`)
	write(t, filepath.Join(dir, "app/local.settings.json"), `{"IsEncrypted": false, "Values": {"A": "edited"}}`)
	again := loadDir(t, filepath.Join(dir, "app"), opts(a.Settings))
	if diff := cmp.Diff(map[string]string{"A": "file", "B": "file", "C": "new", "FUNCTIONS_WORKER_RUNTIME": "dotnet-isolated"}, again.Settings.Local()); diff != "" {
		t.Errorf("after an edit (-want +got):\n%s", diff)
	}
	if again.Fingerprint == a.Fingerprint {
		t.Error("the edit changes nothing")
	}
	write(t, filepath.Join(dir, filepath.FromSlash(where)), `{"C": `)
	broken := loadDir(t, filepath.Join(dir, "app"), opts(again.Settings))
	if got := broken.Settings.Get("B"); got != "file" || len(broken.Warnings) != 1 || !strings.Contains(broken.Warnings[0].Error(), "secrets.json:1:") || !strings.Contains(broken.Warnings[0].Error(), "the user secrets count as empty") {
		t.Errorf("a file that is no JSON: B is %q, warnings %v", got, broken.Warnings)
	}
}

// Where user secrets are (dotnet/runtime: PathHelper.cs of
// Microsoft.Extensions.Configuration.UserSecrets), and apps that have none.
func TestWhereUserSecretsAre(t *testing.T) {
	t.Parallel()
	home := map[string]string{"HOME": "/home/me"}
	for name, tt := range map[string]struct {
		files map[string]string
		env   map[string]string
		want  string
	}{
		"home":           {map[string]string{"App.csproj": secretProject}, home, "/home/me/.microsoft/usersecrets/shop-1/secrets.json"},
		"Windows":        {map[string]string{"App.csproj": secretProject}, map[string]string{"HOME": "/home/me", "APPDATA": "/roaming"}, "/roaming/Microsoft/UserSecrets/shop-1/secrets.json"},
		"another place":  {map[string]string{"App.csproj": secretProject}, map[string]string{"DOTNET_USER_SECRETS_FALLBACK_DIR": "/data"}, "/data/.microsoft/usersecrets/shop-1/secrets.json"},
		"no home":        {map[string]string{"App.csproj": secretProject}, nil, ""},
		"F#":             {map[string]string{"App.fsproj": secretProject}, home, "/home/me/.microsoft/usersecrets/shop-1/secrets.json"},
		"no property":    {map[string]string{"App.csproj": strings.Replace(secretProject, " shop-1 ", "", 1)}, home, ""},
		"no functions":   {map[string]string{"App.csproj": strings.Replace(secretProject, "Functions", "x", 1)}, home, ""},
		"no project":     {nil, home, ""},
		"no folder name": {map[string]string{"App.csproj": strings.Replace(secretProject, " shop-1 ", "../a", 1)}, home, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := load(t, tt.files, &app.Options{Env: tt.env})
			if got := filepath.ToSlash(a.Settings.SecretsFile()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

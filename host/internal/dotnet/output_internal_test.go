package dotnet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a build says comes in its order, each line once, with short paths; an SDK is blamed only
// when it does not know what it is asked for. Warnings of what the Functions SDK builds on the
// way are not the app's.
func TestWhatABuildSays(t *testing.T) {
	t.Parallel()
	out := `  Determining projects to restore...
/app/A.cs(2,8): warning CS1030: #warning: 'one' [/app/App.csproj]
/app/.redeliver/dotnet/obj/App-1/WorkerExtensions.csproj : warning NU1603: another version
/app/A.cs(2,8): warning CS1030: #warning: 'one' [/app/App.csproj::TargetFramework=net10.0]
`
	if diff := cmp.Diff([]string{"A.cs(2,8): warning CS1030: #warning: 'one'"}, warningsIn(out, "/app", "/app/.redeliver/dotnet")); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	for out, want := range map[string]string{
		"/app/B.cs(1,1): error CS1: b [/app/App.csproj]\n/app/A.cs(1,1): error CS1: a [/app/App.csproj]\n/app/B.cs(1,1): error CS1: b [/app/App.csproj]\n": "B.cs(1,1): error CS1: b\nA.cs(1,1): error CS1: a",
		"The command could not be loaded.\nInstalled SDKs:\n8.0.1 [/usr/share/dotnet/sdk]\n":                                                               "The command could not be loaded.\nInstalled SDKs:\n8.0.1 [/usr/share/dotnet/sdk]",
		"MSBUILD : error MSB1001: Unknown switch.\n": "MSBUILD : error MSB1001: Unknown switch.\nthe .NET SDK has to be of version 8 or later: see dotnet --list-sdks, and global.json",
	} {
		if got := brief(out, "/app"); got != want {
			t.Errorf("of %q\ngot  %q\nwant %q", out, got, want)
		}
	}
}

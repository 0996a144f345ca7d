// Package csharp has the sources of the NuGet packages Redeliver.Testing, the test kit, and
// Redeliver.Testing.Worker, which runs an isolated app in the test's process. Their tests, in
// C#, are in the folder tests, with an app that they test.
//
// Read [Write]. docs/kits/csharp.md says what the kit is for. In src/Redeliver.Testing begin
// with RedeliverHost.cs; its parts beside it are grouped as in the other kits.
package csharp

import (
	"embed"
	"os"
)

//go:embed Directory.Build.props src/*/*.cs src/*/*.csproj src/*/Internal/*.cs src/*/buildTransitive/*
var sources embed.FS // read only

// Write writes the sources into an empty folder, where "dotnet build" makes the packages' files
// of them.
func Write(dir string) error { return os.CopyFS(dir, sources) }

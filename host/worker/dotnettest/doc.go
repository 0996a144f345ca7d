// Package dotnettest is a program in the place of `dotnet`, for tests on machines without
// .NET: [Main] builds projects and runs their worker as far as the tables of spec
// workers-dotnet-java 1.2 to 1.10 say what a host sees of it. It compiles nothing.
//
// The project of a test holds a folder "output": its files are what the build writes
// beside App.dll and host.json, worker.json among them, which says how the worker answers ([Script]).
// App.dll itself is the text of all sources, so that an edit is seen in what functions
// log. A source with a line "#error TEXT" does not compile, and "#warning TEXT" warns. A file
// Generate.in is copied to Generated.cs, after the sources have been read.
//
// The program also is the worker for PowerShell (powershell.go), where it is asked to run the
// assembly of that.
//
// The worker is as strict as the real one where that fails calls: a second load of an
// identifier, a missing trace context, numbers that are not JSON, names that differ in
// case only. Start with build.go and worker.go.
package dotnettest

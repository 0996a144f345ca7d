// Package app reads a function app from disk: host.json, every function.json,
// local.settings.json, the environment, and what follows from them (effective
// retry policies, disabled functions, routes, what would run where).
//
// Read [Load] first, then [App] and [Function]; [Check] turns a loaded app into
// the report of "redeliver check", lints included. What host.json says is in hostjson below
// it, what settings say in appsettings, and typed values of any of these files in document.
//
// Loading never stops at the first mistake. Every fault of every file is
// collected with file, line, JSON path, what was found and what is allowed; the
// one that the platform would have reported is marked. A fault in a function
// puts only that function in error; a fault in host.json, in an override or in
// a switch stops the app (App.Faults).
//
// The package is pure in the sense that matters to its callers: it has no clock,
// starts no goroutines, keeps no state, writes no file, and asks the machine
// only for its name, its number of processors and the files of the app, all of
// which but the files can be given in [Options]. It knows no listener: what a
// trigger kind adds (names, schedules, where a message ends) comes in as a table
// of [Kind].
//
// Left out: the text of files and their schemas (package schemas), starting
// anything, watching for changes, and the decision what a bad file means on a
// reload; those belong to package host.
package app

// Package judge compares Redeliver with the platform's own host: its tests lay an app
// into a folder, send it requests and messages, and hold each answer, what the handler
// was given, and what became of each message against what the platform's host made of
// the same.
//
// What that host did is kept in testdata, a table for each kind of rows, so that the
// tests need no other host. To judge anew, name a command that starts it on a folder:
//
//	REDELIVER_JUDGE="func start --script-root {app} --port {port}" go test ./host/judge
//
// {app} is the folder, {port} a free port, {runtime} the worker runtime of the app;
// settings are in the environment. REDELIVER_JUDGE_KEY is its master key, if it asks for
// keys. Its storage is what UseDevelopmentStorage=true means: Azurite at its usual ports.
// REDELIVER_JUDGE_LIBRARIES is the folder of that host, for the timers (dotnet is needed).
// With -update the tables become what it does now; where Redeliver differs, the row then
// says OPEN until somebody gives the reason, and the test fails until then.
//
// Orchestrations need the packages that make interop installs; without them their stories
// (durable_test.go) are skipped.
//
// Apps in C# are built by the SDK of .NET; where there is none, their rows are skipped.
//
// Read golden_test.go first, then requests_test.go and messages_test.go. The package leaves out the services
// that such a host does not need (queues and blobs are enough), and the texts of faults.
package judge

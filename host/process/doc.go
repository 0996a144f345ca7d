// Package process keeps a program running that executes functions: it starts the
// program, watches it, starts it again when it dies, and stops it. The packages
// that connect with the program speak to it: host/plugin, host/worker,
// host/customhandler.
//
// Read [Spec], [Keeper] and [Child] first.
//
// A process belongs to the real world and the code that calls it to the host's clock.
// The border is narrow: everything that waits for the process is one
// [clock.Clock.Outside] call, a crash is dealt with by the first call that comes back
// from it, and only a process that dies with no call in flight enters by itself. So the
// order of records does not depend on how fast a process is.
package process

// Package remote is the way of a command to a running host: which host is meant, by its run
// file or its port, the client of its control API, the locks that say who runs an app, flags
// and questions of commands that change something, whether a host is ready, and names for the shell's completion. Read
// [Remote] and [Target.Find] first. What is asked of a host is in host/ops.
package remote

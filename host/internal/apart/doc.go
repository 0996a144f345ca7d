// Package apart starts the commands that build an app, so that they end with their context
// and not by the terminal.
package apart

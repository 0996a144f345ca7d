// Package appsettings is what an app is told from outside: the environment, the values of
// local.settings.json and the user secrets of a project, names ignoring case. Read
// [Settings] and [Read] first. Connections are found by name here; what a connection means
// is said by the packages below host/kinds.
package appsettings

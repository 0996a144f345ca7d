// Package redeliver is the root of the module and holds no code of its own:
// the command is cmd/redeliver, handlers import package functions, tests import
// host/hosttest. The rules that concern all packages are kept by the tests of the folder
// conventions.
package redeliver

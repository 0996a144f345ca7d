// Package redeliver is the root of the module and holds no code of its own:
// the command is cmd/redeliver, handlers import package functions, tests import
// host/hosttest. The tests of this folder keep the rules that concern all
// packages: who imports whom, that everything is documented, and that every rule
// of the specification has a test (testdata/rules.tsv).
package redeliver

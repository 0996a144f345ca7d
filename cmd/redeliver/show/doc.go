// Package show is how the command tells what happens in a host: the printer of the journal
// (printer.go first: one line for each attempt and settlement), the overview of an app that
// was loaded (banner.go), stacks, the log of the host itself, and the report of scenarios for
// services of CI. It knows no server and no command; whoever has a journal tells it by [Of]
// what to print.
package show

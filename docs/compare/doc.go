// Command compare measures this program beside the emulators of others that this machine has, and
// writes the figures into docs/help/compared.md:
//
//	make compare
//
// It runs the benchmark of host/emulator/rest/restbench, where one client drives Azurite and the
// embedded services in turns, and times how both start. What cannot be run here gets a row that
// says so; nothing is estimated or taken from elsewhere. The line above the table has date,
// versions, processors and load.
//
// Read main.go first, then table.go.
package main

// Package restbench compares the storage servers with two others that are driven
// by the same client in the same run: the floor, an HTTP server that answers the
// right bytes and does nothing else, and Azurite, where `make interop` has
// installed it. It has tests only:
//
//	go test -run '^$' -bench . -benchtime 1x ./host/emulator/rest/restbench
//
// prints the tables of docs/performance.md. Read bench_test.go first, then
// servers_test.go for who takes part. It compares ratios: contestants take
// turns of a fraction of a second, and a ratio is the median over the
// rounds, so that other work of the machine falls on all of them alike.
package restbench

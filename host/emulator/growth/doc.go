// Package growth measures what an operation of an embedded service costs when much is
// stored, beside what it costs when little is: one table over the operations of all
// services.
//
// The test wants no figures, only that no cost grows with the number of stored things.
// Its bounds are so wide that a logarithm and a busy machine stay below them, and a walk
// over everything does not. Figures are in the benchmark:
//
//	go test -run '^$' -bench Growth -benchtime 1x ./host/emulator/growth
//
// What returns or removes everything that is stored is not in the table: it cannot cost
// less than that.
package growth

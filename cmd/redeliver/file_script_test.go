package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// big-file NAME BYTES makes a file of bytes that do not repeat.
func bigFile(ts *testscript.TestScript, neg bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content) // never fails
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o644))
}

// big-text NAME BYTES makes a file of so many bytes of text.
func bigText(ts *testscript.TestScript, neg bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte("x"), size), 0o644))
}

// same-file A B checks that two files have the same bytes, whatever they are.
func sameFile(ts *testscript.TestScript, neg bool, args []string) {
	a, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	if bytes.Equal(a, b) == neg {
		ts.Fatalf("%s has %d bytes and %s %d: same is %t", args[0], len(a), args[1], len(b), !neg)
	}
}

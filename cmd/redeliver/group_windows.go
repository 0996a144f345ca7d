package main

import "os/exec"

// ownGroup does nothing: there are no such groups.
func ownGroup(*exec.Cmd) {}

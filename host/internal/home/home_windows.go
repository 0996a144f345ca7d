package home

import "io/fs"

// The cache folder of a user, and the folder for temporary files too, belong to the user
// alone on Windows; whether one can be written shows when it is.

func mine(fs.FileInfo) bool { return true }

func shared(fs.FileInfo) bool { return false }

func writable(string) error { return nil }

// Writable reports whether files can be made in a folder, without making one: on Windows
// that shows only when one is made.
func Writable(string) bool { return true }

package rest_test

// openFiles is how many sockets this process may have open: there is no limit of
// its own.
func openFiles() int { return 1 << 20 }

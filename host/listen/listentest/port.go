// Package listentest finds ports for tests that must know a port before its server runs,
// or that start a server again at the port it had. Whoever can, listens at port 0 instead.
package listentest

import (
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePort is a port of 127.0.0.1 at which nobody listens, and which no system gives to
// who asks for any: it is below the ports that Linux, macOS and Windows give out. So
// another test that listens at port 0 does not take it in the time between two servers.
func FreePort() int {
	for {
		port := 20_000 + rand.IntN(12_000)
		if l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			_ = l.Close()
			return port
		}
	}
}

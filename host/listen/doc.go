// Package listen holds what all listeners (sockets) of a host have in common. Read
// [Server] first, which opens ports and serves what comes there; then, by what a listener
// has to say or to refuse:
//
//	port.go          where to listen, and who may have a busy port
//	sort.go          what a connection speaks: TLS, HTTP or another protocol
//	conn.go          how long a client may take for an answer
//	body.go          how long, and how large, a request's body may be
//	guard.go         which requests are taken from browsers
//	sharedaccess.go  how tokens of authorization rules read
//
// A web page on the same machine can send requests to any listener there: by fetch,
// by a form, by an image, by a WebSocket. Keys do not help where they are public,
// as the key of an emulator's storage account. So each listener asks the Guard
// first. Programs other than browsers send only one of the headers that it looks
// at, Host.
//
// The package knows no service and no clock; it lives in the real time of sockets.
package listen

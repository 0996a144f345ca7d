// Package listen holds what all listeners (sockets) of a host have in common: which
// requests they take from browsers, see [Guard], how long they wait for a body, see
// [Body], and how tokens of authorization rules read, see [SharedAccess].
//
// A web page on the same machine can send requests to any listener there: by fetch,
// by a form, by an image, by a WebSocket. Keys do not help where everybody knows them,
// as that of an emulator's storage account. So each listener asks the Guard first.
// Programs that are no browsers send none of the headers that it looks at, but for Host.
//
// The package knows no service and no clock; it lives in the real time of sockets.
package listen

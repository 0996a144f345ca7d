// Package services holds the embedded services of a host as one thing, and says
// where the connections of an app lead: to one of them, or to a service outside
// this host.
//
// [Embedded] opens, saves, loads and empties the services together. [Connections]
// reads connection strings, knows where the services are served, and makes calls to
// services outside this host by the clock.
package services

// Package services holds the embedded services of a host as one thing, and says where the
// connections of an app lead: to one of them, or to a service outside.
//
// [Embedded] opens, saves, loads and empties the services together. [Connections] reads
// connection strings, knows where the services are served, and makes the calls to
// services outside by the clock.
package services

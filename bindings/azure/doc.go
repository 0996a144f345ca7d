// Package azure holds the services of package bindings in the cloud, or on any
// server that speaks their protocols: Azure, Azurite, or another host's
// embedded services. It is the only importer of the Azure SDK.
//
// Start with [NewQueueAccount], [NewBlobAccount], [NewServiceBus] and
// [NewEventHubs], which take a connection string; the last two keep connections,
// so close them. It keeps the contracts of package bindings. Where a server leaves
// a point open, the client decides it if it can: ranges and names are checked
// before anything is sent, creating a queue that exists already succeeds, a text
// is sent back only when it is meant to change. The SDK's errors become the
// conditions of package bindings, found by errors.Is; the SDK's own error stays in
// the chain.
//
// Calls wait for the network: on a virtual clock [Options.Call] makes them outside it.
//
// The package reads no settings and no files, except that the credentials of
// Entra ID which an [Identity] names look for themselves in the usual places;
// [NewQueueAccountWithCredential] and [NewBlobAccountWithCredential] take any
// other.
package azure

// Package cosmosdb is the trigger for the change feed of a Cosmos DB container.
//
// A [Listener] shares the ranges of the monitored container with all listeners of
// its name through documents in a lease container: each range has one owner, who
// renews its lease, polls the feed of the range, runs the function for a batch of
// changed documents with all its attempts, and then writes the position into the
// lease, whether the function succeeded or not.
//
// Read [Options] first, then pump.go for the life of one range, lease.go for the
// documents and balance.go for who takes which.
//
// Source: Microsoft.Azure.WebJobs.Extensions.CosmosDB,
// Trigger/CosmosDBTriggerListener.cs; the change feed processor of
// Microsoft.Azure.Cosmos, src/ChangeFeedProcessor; spec messaging 7.
//
// Left out: splits and merges of ranges, the mode that shows all versions and
// deletes, and the trigger parameters that only .NET code can have.
package cosmosdb

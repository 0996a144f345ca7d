package schemas

import "slices"

// Renamed is a key that had another name in an earlier version of the platform or of
// one of its extensions. The one table of them says what is read, what a warning
// names, and which keys are no misspelling.
type Renamed struct {
	// In is where both keys stand: a path of host.json, "" for its top, or the type
	// of a binding.
	In string
	// Old and New are paths below In. New is empty when nothing took its place.
	Old, New string
	// Read says that the old key still counts where the new one is not set.
	Read bool
	// Also is set where both names are right: Old is the platform's own, New that of
	// function.json. Where one of these keys is set, Old does not count.
	Also []string
	// With and Word say that Old is New only where that other key has the word.
	With, Word string
	// Bundle is the major version of the extension bundle that brought the new name:
	// below it the old name is right and the new one is not known. 0: any.
	Bundle int
}

// RenamedKeys returns the renamed keys of a file. Of several old names for one new
// name the first that is set counts.
func RenamedKeys(name Name) []Renamed { return slices.Clone(renamed[name]) }

// Sources: NET ServiceBusHostBuilderExtensions.cs and EventHubWebJobsBuilderExtensions.cs
// (what the options are bound from), the documentation's page of host.json 1.x, CDB
// CosmosDBTriggerAttribute.cs and CosmosDBAttribute.cs of 3.x and 4.x, WJ
// Extensions/JobHostMetadataProvider.cs (Touchups: path becomes BlobPath,
// queueName and topicName queueOrTopicName with entityType).
var renamed = map[Name][]Renamed{ // read only
	HostJSON: {
		{In: "extensions.serviceBus", Old: "messageHandlerOptions.autoComplete", New: "autoCompleteMessages", Read: true},
		{In: "extensions.serviceBus", Old: "sessionHandlerOptions.autoComplete", New: "autoCompleteMessages", Read: true},
		{In: "extensions.serviceBus", Old: "batchOptions.autoComplete", New: "autoCompleteMessages", Read: true},
		{In: "extensions.serviceBus", Old: "messageHandlerOptions.maxAutoRenewDuration", New: "maxAutoLockRenewalDuration", Read: true},
		{In: "extensions.serviceBus", Old: "sessionHandlerOptions.maxAutoRenewDuration", New: "maxAutoLockRenewalDuration", Read: true},
		{In: "extensions.serviceBus", Old: "messageHandlerOptions.maxConcurrentCalls", New: "maxConcurrentCalls", Read: true},
		{In: "extensions.serviceBus", Old: "sessionHandlerOptions.maxConcurrentSessions", New: "maxConcurrentSessions", Read: true},
		{In: "extensions.serviceBus", Old: "sessionHandlerOptions.messageWaitTime", New: "sessionIdleTimeout", Read: true},
		{In: "extensions.serviceBus", Old: "batchOptions.maxMessageCount", New: "maxMessageBatchSize", Read: true},
		{In: "extensions.serviceBus", Old: "batchOptions.operationTimeout", New: "clientRetryOptions.tryTimeout", Read: true},
		{In: "extensions.serviceBus", Old: "retryOptions.tryTimeout", New: "clientRetryOptions.tryTimeout", Read: true},
		{In: "extensions.serviceBus", Old: "autoComplete", New: "autoCompleteMessages"},
		{In: "extensions.serviceBus", Old: "maxAutoRenewDuration", New: "maxAutoLockRenewalDuration"},
		{In: "extensions.serviceBus", Old: "autoRenewTimeout", New: "maxAutoLockRenewalDuration"},

		{In: "extensions.eventHubs", Old: "eventProcessorOptions.maxBatchSize", New: "maxEventBatchSize", Read: true},
		{In: "extensions.eventHubs", Old: "eventProcessorOptions.prefetchCount", New: "prefetchCount", Read: true},
		{In: "extensions.eventHubs", Old: "eventProcessorOptions.enableReceiverRuntimeMetric", New: "trackLastEnqueuedEventProperties", Read: true},
		{In: "extensions.eventHubs", Old: "partitionManagerOptions.leaseDuration", New: "partitionOwnershipExpirationInterval", Read: true},
		{In: "extensions.eventHubs", Old: "partitionManagerOptions.renewInterval", New: "loadBalancingUpdateInterval", Read: true},
		{In: "extensions.eventHubs", Old: "eventProcessorOptions.invokeProcessorAfterReceiveTimeout"},
		{In: "extensions.eventHubs", Old: "eventProcessorOptions.receiveTimeout"},
		{In: "extensions.eventHubs", Old: "maxBatchSize", New: "maxEventBatchSize"},

		{Old: "queues", New: "extensions.queues"},
		{Old: "blobs", New: "extensions.blobs"},
		{Old: "http", New: "extensions.http"},
		{Old: "serviceBus", New: "extensions.serviceBus"},
		{Old: "eventHub", New: "extensions.eventHubs"},
		{Old: "eventHubs", New: "extensions.eventHubs"},
		{Old: "documentDB", New: "extensions.cosmosDB"},
		{Old: "cosmosDB", New: "extensions.cosmosDB"},
		{Old: "sendGrid", New: "extensions.sendGrid"},
		{Old: "durableTask", New: "extensions.durableTask", Read: true},
		{Old: "applicationInsights", New: "logging.applicationInsights"},
		{Old: "logger", New: "logging"},
		{Old: "tracing", New: "logging"},
		{Old: "id"},
		{Old: "swagger"},
	},
	FunctionJSON: {
		{In: "blobTrigger", Old: "blobPath", New: "path", Also: []string{"path"}},
		{In: "blob", Old: "blobPath", New: "path", Also: []string{"path"}},
		{In: "serviceBus", Old: "queueOrTopicName", New: "topicName", Also: []string{"queueName", "topicName"}, With: "entityType", Word: "topic"},
		{In: "serviceBus", Old: "queueOrTopicName", New: "queueName", Also: []string{"queueName", "topicName"}},
		{In: "serviceBusTrigger", Old: "autoComplete", New: "autoCompleteMessages", Read: true},
		{In: "eventHubTrigger", Old: "path", New: "eventHubName"},
		{In: "eventHub", Old: "path", New: "eventHubName"},

		{In: "cosmosDBTrigger", Old: "connectionStringSetting", New: "connection", Bundle: 4},
		{In: "cosmosDBTrigger", Old: "collectionName", New: "containerName", Bundle: 4},
		{In: "cosmosDBTrigger", Old: "leaseConnectionStringSetting", New: "leaseConnection", Bundle: 4},
		{In: "cosmosDBTrigger", Old: "leaseCollectionName", New: "leaseContainerName", Bundle: 4},
		{In: "cosmosDBTrigger", Old: "createLeaseCollectionIfNotExists", New: "createLeaseContainerIfNotExists", Bundle: 4},
		{In: "cosmosDBTrigger", Old: "leasesCollectionThroughput", New: "leasesContainerThroughput", Bundle: 4},
		{In: "cosmosDBTrigger", Old: "leaseCollectionPrefix", New: "leaseContainerPrefix", Bundle: 4},
		{In: "cosmosDB", Old: "connectionStringSetting", New: "connection", Bundle: 4},
		{In: "cosmosDB", Old: "collectionName", New: "containerName", Bundle: 4},
		{In: "cosmosDB", Old: "collectionThroughput", New: "containerThroughput", Bundle: 4},
	},
}

// ReadEarlier makes the keys count that the bindings of function.json had before they
// were renamed with a bundle (see [Renamed]): for an app whose bundle is older. Call it
// before [Document.Validate].
func (d *Document) ReadEarlier() { d.earlier = true }

// WithoutEffect returns the paths of what the document sets and a schema says has no
// effect here, in the order of the text; of nested ones the outermost. A misspelt key
// is not among them, see [Document.Misspelt].
func (d *Document) WithoutEffect(name Name) []string {
	var out []string
	misspelt := map[string]bool{}
	for _, f := range d.Misspelt(name) {
		misspelt[f.Path] = true
	}
	var walk func(n *node, s *shape, path string)
	walk = func(n *node, s *shape, path string) {
		variant := s.variant(n)
		for _, m := range n.members {
			p, ok := s.property(m.key, variant)
			switch at := JoinPath(path, m.key); {
			case m.value.kind == nullNode || !ok && (!s.othersIdle || misspelt[at]):
			case !ok, p.idle:
				out = append(out, at)
			default:
				walk(m.value, p.shape, at)
			}
		}
	}
	walk(d.root, load(name).shape, "")
	return out
}

package blob

// DefaultParallelism is the default of host.json's
// extensions.blobs.maxDegreeOfParallelism for each processor (spec storage 7).
const DefaultParallelism = 8

package schemas_test

import (
	"fmt"

	"github.com/redeliver/redeliver/schemas"
)

// A file is read, overridden and checked; every fault says where and what.
func Example() {
	d, fault := schemas.Parse("host.json", []byte(`{
  "version": "2.0", // comments are fine
  "extensions": { "queues": { "batchSize": 50, "maxDequeueCount": 5, } },
}`))
	if fault != nil {
		fmt.Println(fault)
		return
	}
	d.Override([]string{"extensions", "queues", "maxDequeueCount"}, "none", "environment")
	for _, fault := range d.Validate(schemas.HostJSON) {
		fmt.Println(fault)
	}
	// Output:
	// host.json:3:44: extensions.queues.batchSize: found 50: out of range; allowed: a whole number from 1 to 32
	// environment: extensions.queues.maxDequeueCount: found "none": cannot be read as a whole number; allowed: a whole number of 1 or more
}

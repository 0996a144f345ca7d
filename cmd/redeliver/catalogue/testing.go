package catalogue

// testing is about scenarios and their outcomes.
var testing = []Entry{
	{
		"R-50", "made another number of attempts",
		"The app tried more or less often than the scenario says. Want and got stand below it, then the life of each message.",
		"Count with [the table of products](../concepts/two-layers.md#the-products), and look at which layer ended first.",
		`order.scenario.yaml:8: then.functions.ProcessOrder.attempts: ProcessOrder made another number of attempts`,
	},
	{
		"R-51", "no scenario to run",
		"Files of scenarios end in `.scenario.yaml`, and there is none below the folder, or `--run` fits none.",
		"Name the file or its folder, or correct `--run`.",
		`no scenario to run in "empty"`,
	},
	{
		"", "A scenario that is green alone is red beside others",
		"Scenarios of one file share a worker process of the app, and with it the values of its modules. `ownWorker: true` gives it its own.", "", "",
	},
	{
		"", "The same test fails once in a while",
		"Look for its seed in the failure, and run it with `--seed N`. If it does not fail again, something outside the host takes part: real time in the handler, or two clients at once.", "", "",
	},
} // read only

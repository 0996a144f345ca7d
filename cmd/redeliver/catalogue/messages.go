package catalogue

// messages is about what becomes of a message.
var messages = []Entry{
	{
		"R-33", "retries will soon not be supported by the platform on the triggers of these functions",
		"The platform says this of policies on most triggers. They work, there and here.",
		"`--set retryTriggers=ga` shows what happens without them, and `redeliver.ignore` of `host.json` with `[\"L-1\"]` silences [the lint](../lints.md).",
		`redeliver: warning: retries will soon not be supported by the platform on the triggers of these functions`,
	},
	{
		"R-34", "a body is not base64: send it as base64, or set extensions.queues.messageEncoding to \"none\" in host.json",
		"The platform reads queue messages as Base64 unless the app says otherwise, and current SDKs send plain text. The message goes to the poison queue.",
		"Set `\"extensions\": {\"queues\": {\"messageEncoding\": \"none\"}}` in `host.json`, or let the sender encode.",
		`redeliver: hint: a body is not base64: send it as base64, or set extensions.queues.messageEncoding to "none" in host.json (current SDKs send plain text)`,
	},
	{
		"R-35", "the lock has expired",
		"A handler or a policy took longer than the lock is renewed, or a settlement got lost. The message was delivered again.",
		"Look at the times with `redeliver explain`. [Service Bus, ten times five](../tutorials/service-bus.md) goes through it.",
		`the lock has expired`,
	},
	{
		"R-36", "timeout value of … was exceeded by function …",
		"The function's time was over (`functionTimeout`), and its process was replaced.",
		"Make it shorter, or raise `functionTimeout`. In a debugger, start with `--clock debug`: [debug](../debug.md).",
		`timeout value of 00:05:00 was exceeded by function "Orders"`,
	},
	{
		"R-37", "the messaging entity … could not be found",
		"A client asked for a queue, a topic or a subscription that does not exist.",
		"`redeliver ls servicebus` lists what there is, `redeliver create servicebus NAME` makes one, and `--set autoCreateEntities=any` makes what clients use.",
		`the messaging entity "nowhere" could not be found`,
	},
	{
		"", "The handler ran more often than `maxRetryCount` says",
		"N retries are N + 1 attempts, in each delivery: [two layers](../concepts/two-layers.md).", "", "",
	},
	{
		"", "The message is gone, and is in no poison queue",
		"Event Hubs and Cosmos DB have none; an Event Grid subscription without `deadLetterContainer` drops: [a message's end](../concepts/ends.md).", "", "",
	},
	{
		"", "A timer does not tick",
		"With `--clock manual` nothing does until you move the clock: `redeliver clock`. On a shared storage account another host may have the timer's lease.", "", "",
	},
} // read only

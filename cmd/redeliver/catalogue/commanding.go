package catalogue

// commanding is about a command that does not reach a host.
var commanding = []Entry{
	{
		"R-38", "no host runs the app in …",
		"Commands look in this folder and above it for an app that runs.",
		"Start it, go to its folder, or name it with `--dir`. A host of another folder or in a container is named by `--port`.",
		`no host runs the app in "/home/me/shop"`,
	},
	{
		"R-39", "there is no app in …: neither it nor a folder above it has a host.json",
		"An assistant's server was started in a folder that is no app.",
		"Start `redeliver mcp` in the app's folder, or name it with `--dir`: [AI assistants](../mcp.md).",
		`there is no app in "/home/me": neither it nor a folder above it has a host.json`,
	},
	{
		"R-40", "no host answers at …",
		"Nothing listens at the address, or what listens does not answer.",
		"`redeliver start` in the app's folder; `--port` names the port of a host that has another.",
		`no host answers at http://127.0.0.1:7071`,
	},
	{
		"R-41", "is not a redeliver host",
		"Another program has that port: `func`, or a server of yours.",
		"Name the app with `--dir` or the host with `--port`.",
		`the server at http://127.0.0.1:7071 is not a redeliver host`,
	},
	{
		"R-42", "does not know this command",
		"Command and host are of different versions.",
		"Stop the host and start it with the program that you call: `redeliver version` on both sides.",
		`the host at http://127.0.0.1:7071 does not know this command`,
	},
	{
		"R-43", "the host at … asks for the master key",
		"The host was started with `--enableAuth` or `--container`.",
		"In the app's folder the command knows the key; elsewhere it is in `REDELIVER_MASTER_KEY`.",
		`the host at http://127.0.0.1:7071 asks for the master key`,
	},
	{
		"R-44", "the Host header … does not name this machine",
		"A client called the host by a name that is none of this machine's: [who may call](../access.md) lists them.",
		"`--allow-host NAME` adds one, `--container` allows names of other containers.",
		`the Host header "example.com" does not name this machine`,
	},
	{
		"R-45", "found by its port alone",
		"The command would change the state of a host that runs another folder's app, so it did nothing.",
		"Name the app with `--dir`, or say `--yes`.",
		`the host at http://127.0.0.1:7071 runs the app in "/home/me/shop", and was found by its port alone`,
	},
} // read only

// refused is about a command line that was not understood.
var refused = []Entry{
	{
		"R-46", "queue … is not a poison queue: its name does not end in -poison",
		"`redrive` moves from `NAME-poison` to `NAME`.",
		"For another pair name the target with `--to`.",
		`queue "orders" is not a poison queue: its name does not end in -poison`,
	},
	{
		"R-47", "the app has no function …",
		"The name is wrong, or the function is another app's.",
		"The hint has the name that was meant. Of several apps say which: `orders/Place`.",
		`the app has no function "ProcesOrder"`,
	},
	{
		"R-48", "… names no blob",
		"A blob is named by its container and its name.",
		"Write `CONTAINER/NAME`, for instance `invoices/2026/07.json`.",
		`"invoices" names no blob`,
	},
	{
		"R-49", "cannot open a browser: …",
		"There is no browser, for instance in a container or over SSH.",
		"Open the address by hand; the variable `BROWSER` names a program.",
		`cannot open a browser: there is no xdg-open`,
	},
} // read only

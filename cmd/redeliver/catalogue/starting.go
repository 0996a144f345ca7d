package catalogue

// starting is about a host that does not come up.
var starting = []Entry{
	{
		"R-1", "port … is in use",
		"Another program has the port, often `func`, Azurite or a host of yours.",
		"Stop it, or start this one with `--ports any`, which takes free ports for everything; `--port 0` is for the functions alone.",
		`port 7071 is in use`,
	},
	{
		"R-2", "port … is in use: is … running?",
		"Another program has the port of a service. Azurite has 10000, 10001 and 10002 (`func start` of Core Tools 5 starts it by itself), the Service Bus and Event Hubs emulators 5672.",
		"Stop it. Or take `--ports any` for all of them, or the service's own flag with `0` or `off`.",
		`blob service: port 10000 is in use: is Azurite or another emulator running?`,
	},
	{
		"R-3", "process … runs this app already, at …",
		"One host at a time runs a folder.",
		"`redeliver stop` ends it; the page is at the address that is named.",
		`process 4711 runs this app already, at http://localhost:7071`,
	},
	{
		"R-4", "data directory … is in use by process …",
		"Two apps were given one data folder, or a kit and a host.",
		"Stop that process, choose another folder with `--data`, or `--in-memory`.",
		`data directory "/app/.redeliver" is in use by process 4711 (redeliver start)`,
	},
	{
		"R-5", "data directory … cannot be written",
		"The folder belongs to another user, or its file system is mounted read-only.",
		"Give yourself the right, choose another folder with `--data`, or `--in-memory`.",
		`data directory "/app/.redeliver" cannot be written: open /app/.redeliver/lock: permission denied`,
	},
	{
		"R-6", "has format …, written by … version; this one reads format …",
		"The data folder was written by another version of this program, and it is left as it is.",
		"Run that version, save with `redeliver state save FILE`, and load the file here; or choose another folder with `--data`.",
		`"/app/.redeliver" has format 3, written by a newer version; this one reads format 2`,
	},
	{
		"R-7", "is damaged: …",
		"The bytes on the disk are not what was written: a disk fault, or another program wrote there. Nothing is guessed and nothing is removed.",
		"Move the folder away to start empty; `redeliver state load FILE` then brings back a saved state.",
		`"/app/.redeliver/log" is damaged: the checksum at 4096 does not fit`,
	},
	{
		"R-8", "no space left on the disk",
		"The services keep their data on a disk that is full.",
		"Make room, choose another folder with `--data`, or `--in-memory`. A host that runs goes on when there is room again.",
		`the services cannot keep their data: no space left on the disk`,
	},
	{
		"R-9", "the folder holds no app, and these stand below it: …",
		"You are in the folder of a repository or solution.",
		"Start one of the apps that are named, or [several together](../several-apps.md).",
		`the folder holds no app, and these stand below it: web/host.json, jobs/host.json`,
	},
	{
		"R-10", "there is no function app in …, nor a host.json above it",
		"The folder is no app, and no folder above it is one.",
		"Go to the app's folder or name it; `redeliver init` writes a new app, `--services-only` serves the services alone.",
		`there is no function app in "notes", nor a host.json above it`,
	},
	{
		"R-11", "there is no host.json in …",
		"The folder is no app.",
		"`--dir` names the app's; `redeliver init` writes a new one.",
		`there is no host.json in "notes"`,
	},
	{
		"R-12", "nothing in the folder says which language the app is written in",
		"`FUNCTIONS_WORKER_RUNTIME` is not set, and no file tells the language.",
		"Set it in `local.settings.json` to `node`, `python`, `java`, `dotnet-isolated` or `custom`.",
		`nothing in the folder says which language the app is written in`,
	},
	{
		"R-13", "encrypted settings cannot be read",
		"`local.settings.json` was encrypted by `func settings encrypt`.",
		"Run `func settings decrypt`, or write `\"IsEncrypted\": false` and plain values.",
		`local.settings.json:2:18: IsEncrypted: encrypted settings cannot be read; found true; allowed: false`,
	},
	{
		"R-14", "IsEncrypted is missing, which means true",
		"`local.settings.json` can be read in plain text only.",
		"Write `\"IsEncrypted\": false`; for encrypted values `func settings decrypt` first.",
		`redeliver: warning: local.settings.json: IsEncrypted is missing, which means true`,
	},
	{
		"R-15", "… is missing; every trigger except HTTP needs it",
		"The app has such triggers, and no setting says where storage is.",
		"Set it in `local.settings.json` to `UseDevelopmentStorage=true` for the embedded storage.",
		`local.settings.json: Values.AzureWebJobsStorage: AzureWebJobsStorage is missing; every trigger except HTTP needs it: Tick (timerTrigger)`,
	},
	{
		"R-16", "the clock has to be real: … is an account outside this host",
		"A setting leads to a storage account, namespace or emulator elsewhere. Its locks end in real time, so the clock cannot skip.",
		"Set `UseDevelopmentStorage=true` or the emulator's connection string for the embedded services.",
		`the clock has to be real: AzureWebJobsStorage is an account outside this host, and its locks end in real time`,
	},
	{
		"R-17", "the handler program does not exist",
		"`customHandler.description.defaultExecutablePath` of `host.json` names a program that is not there.",
		"Build it first. The host tries again when a file of the app changes.",
		`host.json:5:32: customHandler.description.defaultExecutablePath: the handler program does not exist; found "bin/handler"`,
	},
	{
		"R-18", "the host waits in state Error: fix this and it loads the app again",
		"The app could not be loaded at the start. Services and the page are there.",
		"Mend what the lines above name and save the file: the app is loaded then.",
		`redeliver: hint: the host waits in state Error: fix this and it loads the app again; Ctrl+C stops it`,
	},
	{
		"R-19", "this is a development build, and its source folder is gone",
		"`redeliver init --lang go` of a program that was built from a clone writes the clone's place into `go.mod`.",
		"`--replace` names it. Releases do not need that.",
		`this is a development build, and its source folder is gone`,
	},
} // read only

package catalogue

// functions is about a function or a worker that does not come up.
var functions = []Entry{
	{
		"R-20", "function … does not run: …",
		"Its files are wrong; the rest of the line says where.",
		"`redeliver check` shows all faults at once.",
		`function "Orders" does not run: Orders/function.json: bindings[0].authLevel: found "anonymus"`,
	},
	{
		"R-21", "function is not served and does not run",
		"Its trigger or an input is not emulated: [what is not served](../fidelity.md#what-is-not-served). The other functions run.",
		"An input can get a [fixed value](../fidelity.md#fixed-values-for-inputs).",
		`redeliver: warning: function is not served and does not run: signalRTrigger is a binding of the platform`,
	},
	{
		"R-22", "the binding type is not registered",
		"No extension has a binding of this name; in most cases it is misspelt.",
		"The hint has the name that was meant. A type of the platform that is not served here is told [otherwise](../fidelity.md#what-is-not-served).",
		`Orders/function.json:3:15: bindings[0].type: the binding type is not registered; found "qeueTrigger"`,
	},
	{
		"R-23", "connection string '…' does not exist. Make sure that it is a defined App Setting",
		"`connection` of a binding holds the name of a setting, and no setting has that name or that name after `AzureWebJobs`.",
		"Set it under `Values` of `local.settings.json`: `UseDevelopmentStorage=true`, or `Endpoint=sb://localhost;...;UseDevelopmentEmulator=true` for Service Bus and Event Hubs.",
		`Storage account connection string 'AzureWebJobsWarehouse' does not exist. Make sure that it is a defined App Setting; found "Warehouse"`,
	},
	{
		"R-24", "'%…%' does not resolve to a value",
		"A name in a binding takes a setting that is not set.",
		"Set it in the environment or under `Values` of `local.settings.json`.",
		`Orders/function.json:3:61: bindings[0].queueName: '%Stage%' does not resolve to a value`,
	},
	{
		"R-25", "schedule … is not recognised as cron or time span",
		"A timer takes six fields, the first for seconds; five are read as without seconds.",
		"Write for instance `0 */5 * * * *`, or a time span `00:05:00`.",
		`schedule "every morning" is not recognised as cron or time span: a cron expression has five or six fields, this has 2`,
	},
	{
		"R-26", "function could not be loaded: its attempts fail",
		"The worker could not load the script: a module is missing (`npm install`, `pip install`), or the script throws while it is imported. The line below names it.",
		"Save the file when it is mended; the host loads it again.",
		`redeliver: warning: function could not be loaded: its attempts fail`,
	},
	{
		"R-27", "\"main\" of package.json names …, and there is no …",
		"Code that declares functions is found by `main`, and that file is not there. For TypeScript: is it built?",
		"`npm run build`, or correct `main`.",
		`"main" of package.json names "dist/src/*.js", and there is no such file`,
	},
	{
		"R-28", "the app has no functions, and its worker says: …",
		"Code that declares functions did not get that far.",
		"Mend what the worker says. For TypeScript: is `dist` built, and does `main` of `package.json` name it?",
		`the app has no functions, and its worker says: Cannot find module '@azure/functions'`,
	},
	{
		"R-29", "the package azure-functions is not installed for …",
		"Nothing is wrong: a stand-in of the program serves.",
		"Install the package into the app's virtual environment when you want the real one, for instance for types.",
		`redeliver: warning: the package azure-functions is not installed for python3`,
	},
	{
		"R-30", "the custom handler has to answer POST /…",
		"The program answered 404: it does not have the function's route. That attempt failed.",
		"Serve that route, with the function's name.",
		`redeliver: hint: the custom handler has to answer POST /OnOrder`,
	},
	{
		"R-31", "cannot compile the worker for Java: …",
		"The worker for Java is compiled once, by a JDK; a runtime alone has no compiler.",
		"Install a JDK of the version that is named, or set `JAVA_HOME` to its folder.",
		`javac cannot compile the worker for Java: exit status 2: ; a JDK 17 or later is needed: install one, or set JAVA_HOME to its folder`,
	},
	{
		"R-32", "are written for the in-process model of .NET",
		"Its support ended, and no program but the platform's old host runs it.",
		"Move the functions to the isolated model; [apps in .NET](../dotnet.md). `--services-only` serves the services to them meanwhile.",
		`the functions of this app are written for the in-process model of .NET (Shop.csproj has package Microsoft.NET.Sdk.Functions)`,
	},
} // read only

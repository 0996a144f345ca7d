package app_test

import (
	"maps"
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// What a person sees of a category, as the platform's tool selects (cli:
// LoggerRuleSelector.cs, LoggingFilterHelper.cs): the longest key that the category begins
// with, whatever the case; then default; then Information.
func TestLogLevels(t *testing.T) {
	t.Parallel()
	orders, of, console := app.HandlerCategory("Orders"), app.FunctionCategory("Orders"), app.HandlerCategory("")
	for name, tt := range map[string]struct {
		levels   app.LogLevels
		category string
		least    string // the lowest level that is shown
	}{
		"none":                        {nil, orders, "Information"},
		"none for the console":        {nil, console, "Information"},
		"default":                     {app.LogLevels{"default": "Warning"}, orders, "Warning"},
		"default in another case":     {app.LogLevels{"Default": "debug"}, orders, "Debug"},
		"default for the console":     {app.LogLevels{"default": "Error"}, console, "Error"},
		"all functions":               {app.LogLevels{"default": "Warning", "Function": "Trace"}, orders, "Trace"},
		"all functions, console":      {app.LogLevels{"default": "Warning", "Function": "Trace"}, console, "Warning"},
		"one function":                {app.LogLevels{"Function": "Error", "Function.Orders": "Debug"}, orders, "Debug"},
		"one function, the host's":    {app.LogLevels{"Function": "Error", "Function.Orders": "Debug"}, of, "Debug"},
		"only what handlers write":    {app.LogLevels{"Function.Orders.User": "Debug"}, orders, "Debug"},
		"and not the host's":          {app.LogLevels{"Function.Orders.User": "Debug"}, of, "Information"},
		"another function":            {app.LogLevels{"Function.Invoices": "None"}, orders, "Information"},
		"beginning of a name":         {app.LogLevels{"Function.Ord": "None"}, orders, "None"},
		"case of a key":               {app.LogLevels{"function.ORDERS.user": "Critical"}, orders, "Critical"},
		"longest wins over order":     {app.LogLevels{"Function.Orders.User": "Trace", "Function.Orders": "None", "F": "Error"}, orders, "Trace"},
		"console":                     {app.LogLevels{"Host.Function.Console": "None", "default": "Trace"}, console, "None"},
		"the host":                    {app.LogLevels{"Host": "Error"}, console, "Error"},
		"a wildcard is a letter here": {app.LogLevels{"Function.*.User": "None"}, orders, "Information"},
		"a level that is none":        {app.LogLevels{"default": "Loud"}, orders, "Information"},
		"asked for":                   {app.LogLevels(nil).ForUsers("Debug"), orders, "Debug"},
		"asked for, the console":      {app.LogLevels(nil).ForUsers("Debug"), console, "Information"},
		"asked for over default":      {app.LogLevels{"default": "Error"}.ForUsers("Trace"), orders, "Trace"},
		"asked for is none":           {app.LogLevels{"default": "Error"}.ForUsers("Loud"), orders, "Error"},
		"asked for under Function":    {app.LogLevels{"function": "Error"}.ForUsers("Trace"), orders, "Error"},
		"asked for under a name":      {app.LogLevels{"Function.Orders.User": "Error"}.ForUsers("Trace"), orders, "Error"},
	} {
		words := app.LogLevelWords()
		shown := false
		for _, level := range words[:len(words)-1] {
			shown = shown || level == tt.least
			if got := tt.levels.Show(tt.category, level); got != shown {
				t.Errorf("%s: %v shows %s of %s: %v, want %v", name, tt.levels, level, tt.category, got, shown)
			}
		}
	}
}

// Levels of host.json are words in any case, or their numbers; an empty one is none (runtime:
// LoggerFilterConfigureOptions.cs).
func TestLogLevelsOfFile(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{
		"host.json": `{"version":"2.0","logging":{"logLevel":{"default":3,"Function":"4","Function.Orders":"","Function.Bills":null,"Host":" trace "}}}`,
	}, &app.Options{Env: map[string]string{"FUNCTIONS_WORKER_RUNTIME": "custom", "AzureWebJobsStorage": "UseDevelopmentStorage=true"}})
	want := app.LogLevels{"default": "Warning", "Function": "Error", "Host": "Trace"}
	if got := a.Config.LogLevels; !maps.Equal(got, want) {
		t.Errorf("levels are %v, want %v", got, want)
	}
}

package app_test

import (
	"maps"
	"testing"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
)

// What a person sees of a category, as the platform's tool selects (cli:
// LoggerRuleSelector.cs, LoggingFilterHelper.cs): the longest key that the category begins
// with, whatever the case; then default; then Information.
func TestLogLevels(t *testing.T) {
	t.Parallel()
	orders, of, console := hostjson.HandlerCategory("Orders"), hostjson.FunctionCategory("Orders"), hostjson.HandlerCategory("")
	for name, tt := range map[string]struct {
		levels   hostjson.LogLevels
		category string
		least    string // the lowest level that is shown
	}{
		"none":                        {nil, orders, "Information"},
		"none for the console":        {nil, console, "Information"},
		"default":                     {hostjson.LogLevels{"default": "Warning"}, orders, "Warning"},
		"default in another case":     {hostjson.LogLevels{"Default": "debug"}, orders, "Debug"},
		"default for the console":     {hostjson.LogLevels{"default": "Error"}, console, "Error"},
		"all functions":               {hostjson.LogLevels{"default": "Warning", "Function": "Trace"}, orders, "Trace"},
		"all functions, console":      {hostjson.LogLevels{"default": "Warning", "Function": "Trace"}, console, "Warning"},
		"one function":                {hostjson.LogLevels{"Function": "Error", "Function.Orders": "Debug"}, orders, "Debug"},
		"one function, the host's":    {hostjson.LogLevels{"Function": "Error", "Function.Orders": "Debug"}, of, "Debug"},
		"only what handlers write":    {hostjson.LogLevels{"Function.Orders.User": "Debug"}, orders, "Debug"},
		"and not the host's":          {hostjson.LogLevels{"Function.Orders.User": "Debug"}, of, "Information"},
		"another function":            {hostjson.LogLevels{"Function.Invoices": "None"}, orders, "Information"},
		"beginning of a name":         {hostjson.LogLevels{"Function.Ord": "None"}, orders, "None"},
		"case of a key":               {hostjson.LogLevels{"function.ORDERS.user": "Critical"}, orders, "Critical"},
		"longest wins over order":     {hostjson.LogLevels{"Function.Orders.User": "Trace", "Function.Orders": "None", "F": "Error"}, orders, "Trace"},
		"console":                     {hostjson.LogLevels{"Host.Function.Console": "None", "default": "Trace"}, console, "None"},
		"the host":                    {hostjson.LogLevels{"Host": "Error"}, console, "Error"},
		"a wildcard is a letter here": {hostjson.LogLevels{"Function.*.User": "None"}, orders, "Information"},
		"a level that is none":        {hostjson.LogLevels{"default": "Loud"}, orders, "Information"},
		"asked for":                   {hostjson.LogLevels(nil).ForUsers("Debug"), orders, "Debug"},
		"asked for, the console":      {hostjson.LogLevels(nil).ForUsers("Debug"), console, "Information"},
		"asked for over default":      {hostjson.LogLevels{"default": "Error"}.ForUsers("Trace"), orders, "Trace"},
		"asked for is none":           {hostjson.LogLevels{"default": "Error"}.ForUsers("Loud"), orders, "Error"},
		"asked for under Function":    {hostjson.LogLevels{"function": "Error"}.ForUsers("Trace"), orders, "Error"},
		"asked for under a name":      {hostjson.LogLevels{"Function.Orders.User": "Error"}.ForUsers("Trace"), orders, "Error"},
	} {
		words := hostjson.LogLevelWords()
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
	want := hostjson.LogLevels{"default": "Warning", "Function": "Error", "Host": "Trace"}
	if got := a.Config.LogLevels; !maps.Equal(got, want) {
		t.Errorf("levels are %v, want %v", got, want)
	}
}

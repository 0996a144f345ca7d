//go:build !unix

package plugin_test

import "github.com/redeliver/redeliver/functions"

func runHost() {}

func childApp() *functions.App { return functions.New() }

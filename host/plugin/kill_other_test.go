//go:build !unix

package plugin_test

func runHost() {}

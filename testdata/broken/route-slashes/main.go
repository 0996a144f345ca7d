// A handler of one line: only the configuration of this app is of interest.
package main

import "github.com/redeliver/redeliver/functions"

func main() { functions.Main(functions.New()) }

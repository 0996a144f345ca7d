package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "site: error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want write DIR or check DIR")
	}
	switch args[0] {
	case "write":
		n, err := write(".", args[1])
		if err == nil {
			fmt.Printf("wrote %d pages to %s\n", n, args[1])
		}
		return err
	case "check":
		faults, n, err := check(".", args[1])
		if err != nil {
			return err
		}
		for _, f := range faults {
			fmt.Fprintln(os.Stderr, f)
		}
		if len(faults) > 0 {
			return fmt.Errorf("%d faults in %d pages", len(faults), n)
		}
		fmt.Printf("%d pages: every link leads somewhere, and nothing is loaded from elsewhere\n", n)
		return nil
	}
	return fmt.Errorf("%q is neither write nor check", args[0])
}

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// BrowserFor is the command that opens an address in the user's browser.
func BrowserFor(address string) (*exec.Cmd, error) {
	for _, words := range openers(runtime.GOOS, os.Getenv) {
		if program, err := exec.LookPath(words[0]); err == nil {
			return exec.Command(program, append(words[1:], address)...), nil
		}
	}
	return nil, NoBrowser("no program is found that opens one")
}

// openers are the programs that open an address, with their first arguments, best first.
// BROWSER goes first: editors that work on another machine open the user's browser so.
func openers(system string, env func(string) string) (out [][]string) {
	for _, name := range filepath.SplitList(env("BROWSER")) {
		out = append(out, []string{name})
	}
	switch system {
	case "windows":
		return append(out, []string{"rundll32", "url.dll,FileProtocolHandler"})
	case "darwin":
		return append(out, []string{"open"})
	}
	if env("DISPLAY")+env("WAYLAND_DISPLAY") != "" { // otherwise it would take over the terminal
		out = append(out, []string{"xdg-open"})
	}
	return append(out, []string{"wslview"})
}

// NoBrowser says why no browser is opened.
func NoBrowser(why string) error {
	return Hinted(fmt.Errorf("cannot open a browser: %s", why), "open the address by hand; the variable BROWSER names a program to open it with")
}

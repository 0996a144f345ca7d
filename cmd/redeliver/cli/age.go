package cli

import (
	"fmt"
	"os"
	"time"
)

// oldAge is the age of a build from which on it says so.
const oldAge = 180 * 24 * time.Hour

// silent is the variable that silences a build about its age; so does CI.
const silent = "REDELIVER_NO_NOTICE"

// SayAge says on a terminal that the build is old, by the wall's time. No command asks anybody
// for a newer one.
func (c *Console) SayAge() {
	if Terminal(c.Err) == nil {
		return
	}
	if text := ThisBuild().age(time.Now(), os.Getenv); text != "" {
		c.Say("info", text)
	}
}

// age says how old a build is; empty when it is not, or nobody wants to know.
func (b Build) age(now time.Time, getenv func(string) string) string {
	made, err := time.Parse(time.DateOnly, b.Date)
	if err != nil || now.Sub(made) < oldAge || getenv(silent) != "" || getenv("CI") != "" {
		return ""
	}
	return fmt.Sprintf("this version is %d months old; newer ones: https://%s/releases (%s=1 says no more of it)", int(now.Sub(made).Hours()/24/30), ModulePath, silent)
}

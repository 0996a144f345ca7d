package show

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"

	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/schemas"
)

// The JUnit format, as the usual services of CI read it: a suite for each file.
type (
	junitSuites struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Errors   int           `xml:"errors,attr"`
		Skipped  int           `xml:"skipped,attr"`
		Time     string        `xml:"time,attr"`
		Suites   []*junitSuite `xml:"testsuite"`

		seconds float64
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`

		seconds float64
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		File      string        `xml:"file,attr"`
		Time      string        `xml:"time,attr"`
		Failure   *junitProblem `xml:"failure"`
		Error     *junitProblem `xml:"error"`
		Skipped   *junitProblem `xml:"skipped"`
	}
	junitProblem struct {
		Message string `xml:"message,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes a report. A file that is faulty is a test case with an error.
func WriteJUnit(file string, results []*scenario.Result, faults []*schemas.Fault) error {
	var all junitSuites
	suite := func(file string) *junitSuite {
		for _, s := range all.Suites {
			if s.Name == file {
				return s
			}
		}
		s := &junitSuite{Name: file}
		all.Suites = append(all.Suites, s)
		return s
	}
	for _, f := range faults {
		s := suite(f.File)
		s.Tests, s.Errors = s.Tests+1, s.Errors+1
		s.Cases = append(s.Cases, junitCase{Name: "the file", ClassName: f.File, File: f.File, Time: "0.000", Error: &junitProblem{Message: f.Reason, Text: f.Error()}})
	}
	for _, r := range results {
		s := suite(r.Scenario.File)
		c := junitCase{Name: r.Scenario.Name, ClassName: r.Scenario.File, File: r.Scenario.File, Time: junitTime(r.Real.Seconds())}
		s.Tests++
		s.seconds += r.Real.Seconds()
		switch {
		case r.Skipped != "":
			s.Skipped++
			c.Skipped = &junitProblem{Message: r.Skipped}
		case !r.Passed():
			s.Failures++
			var text []string
			for i := range r.Failures {
				text = append(text, r.Failures[i].String())
			}
			c.Failure = &junitProblem{Message: r.Failures[0].Message, Text: strings.Join(text, "\n")}
		}
		s.Cases = append(s.Cases, c)
	}
	for _, s := range all.Suites {
		s.Time = junitTime(s.seconds)
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
		all.seconds += s.seconds
	}
	all.Time = junitTime(all.seconds)
	text, err := xml.MarshalIndent(&all, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append([]byte(xml.Header), append(text, '\n')...), 0o666)
	}
	if err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}

func junitTime(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }

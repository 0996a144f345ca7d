package run

import (
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/recorded"
)

// Listings are the lists of the inventory: functions, what services hold, those first that are
// there in each run, and outputs.
func Listings(services []*ops.Service) []ops.Listing {
	list := []ops.Listing{{
		Name: "functions", Columns: []string{"FUNCTION", "TRIGGER", "STATE"}, Rows: ops.Rows(functionRows),
	}}
	for _, quiet := range []bool{false, true} {
		for _, s := range services {
			for _, t := range s.Listings {
				if t.Quiet == quiet {
					list = append(list, t)
				}
			}
		}
	}
	return append(list, ops.Listing{
		Name: "outputs", Columns: []string{"OUTPUT", "TYPE", "RECORDED", "TO FAIL"}, Numbers: 2, Quiet: true, Rows: ops.Rows(outputRows),
	})
}

func functionRows(f *FunctionInfo) [][]string {
	state := f.State
	switch {
	case f.State == FunctionDisabled && f.Detail != "":
		state += " (" + f.Detail + ")"
	case f.Detail != "":
		state += ": " + f.Detail
	}
	return [][]string{{f.Name, strings.TrimSpace(f.Trigger + " " + f.Source), state}}
}

// outputRows are the row of an output that is recorded, or made to fail.
func outputRows(o *recorded.OutputInfo) [][]string {
	failing := "-"
	switch {
	case o.Failing < 0:
		failing = "all"
	case o.Failing > 0:
		failing = strconv.Itoa(o.Failing)
	}
	return [][]string{{o.Function + "/" + o.Binding, o.Type, strconv.Itoa(o.Recorded), failing}}
}

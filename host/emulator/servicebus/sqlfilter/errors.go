package sqlfilter

import "fmt"

// MaxExpression is the length of an expression in characters (spec messaging
// 1.6). It also bounds how many predicates it has and how deep they nest.
const MaxExpression = 1024

// A SyntaxError says where an expression cannot be read.
type SyntaxError struct {
	Expression string
	Offset     int // in bytes
	Text       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("SQL expression %q: at offset %d: %s", e.Expression, e.Offset, e.Text)
}

// A FilterError is a failure of an expression on one message. The service calls
// it FilterException, which becomes the reason of the dead letter (spec
// messaging 1.4).
type FilterError struct {
	Text string
}

// Name is the service's name for the failure.
func (e *FilterError) Name() string { return "FilterException" }

func (e *FilterError) Error() string { return e.Text }

func failf(format string, args ...any) error {
	return &FilterError{Text: fmt.Sprintf(format, args...)}
}

package retrycontext

import (
	"fmt"
	"reflect"
)

// The limits of Walk: deeper than any sensible error, and finite in one that wraps
// itself.
const (
	walkDepth = 100
	walkNodes = 1000
)

// Walk calls f for err and all errors that it wraps, outermost first, in the
// order of package errors, until f returns true; it reports whether f did. Unlike
// package errors it comes to an end with an error that wraps itself: it looks at
// 1000 errors, down to a depth of 100. An Unwrap that panics wraps nothing. The
// errors' methods As and Is are not called.
func Walk(err error, f func(error) bool) bool {
	left := walkNodes
	return walk(err, f, walkDepth, &left)
}

func walk(err error, f func(error) bool, depth int, left *int) bool {
	for ; err != nil && depth > 0 && *left > 0; depth-- {
		*left--
		if f(err) {
			return true
		}
		var many []error
		if many, err = unwrap(err); many != nil {
			for _, err := range many {
				if walk(err, f, depth-1, left) {
					return true
				}
			}
			return false
		}
	}
	return false
}

// unwrap returns what err wraps: one error or several.
func unwrap(err error) (many []error, one error) {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		defer func() {
			if recover() != nil {
				one = nil
			}
		}()
		return nil, e.Unwrap()
	case interface{ Unwrap() []error }:
		defer func() {
			if recover() != nil {
				many = nil
			}
		}()
		return e.Unwrap(), nil
	}
	return nil, nil
}

// textOf is the text of err, also of one that cannot tell it.
func textOf(err error) (text string) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if e := reflect.ValueOf(err); e.Kind() == reflect.Pointer && e.IsNil() {
			text = fmt.Sprintf("(nil %T in an error: a handler that succeeded returns a plain nil)", err)
			return
		}
		text = fmt.Sprintf("(its Error method panicked: %v)", v)
	}()
	return err.Error()
}

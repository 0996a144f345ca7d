package httptrigger

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// A constraint decides whether a parameter takes a value.
type constraint func(value string) bool

// plainConstraints are those without arguments.
var plainConstraints = map[string]constraint{
	"int":  func(v string) bool { _, err := strconv.ParseInt(strings.TrimSpace(v), 10, 32); return err == nil },
	"long": func(v string) bool { _, ok := integer(v); return ok },
	"bool": func(v string) bool {
		v = strings.TrimSpace(v)
		return strings.EqualFold(v, "true") || strings.EqualFold(v, "false")
	},
	"float":    func(v string) bool { return number(v, floatForm) },
	"double":   func(v string) bool { return number(v, floatForm) },
	"decimal":  func(v string) bool { return number(v, decimalForm) && decimalFits(v) },
	"datetime": isDateTime,
	"guid":     guidForm.MatchString,
	"alpha":    alphaForm.MatchString,
	"required": func(v string) bool { return v != "" },
	"file":     isFile,
	"nonfile":  func(v string) bool { return !isFile(v) },
	"exists":   func(string) bool { return false }, // only routes of MVC know values that exist
}

var (
	floatForm   = regexp.MustCompile(`^([+-]?(\d[\d,]*\.?\d*|\.\d+)([eE][+-]?\d+)?|NaN|-?Infinity)$`)
	decimalForm = regexp.MustCompile(`^[+-]?(\d[\d,]*\.?\d*|\.\d+)$`)
	alphaForm   = regexp.MustCompile(`^[A-Za-z]*$`)
	guidForm    = regexp.MustCompile(`^(?:[0-9a-fA-F]{32}|` + dashed + `|\{` + dashed + `\}|\(` + dashed + `\))$`)
)

const dashed = `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`

// dateForms are the accepted forms of a date: the ISO forms, and forms of .NET's
// invariant culture that can stand in a path.
var dateForms = []string{
	"2006-01-02", "2006-1-2", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339Nano, "2006-01-02T15:04:05Z0700",
	"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01", "1/2/2006", "1/2/2006 15:04", "1/2/2006 15:04:05", "1/2/2006 3:04 PM",
	"1/2/2006 3:04:05 PM", "1-2-2006", "1-2-2006 3:04pm", "2 January 2006", "January 2, 2006", "2 Jan 2006", time.RFC1123,
	"Jan 2006", "January 2006", "2006.1.2", "1.2.2006",
	"15:04", "15:04:05", "15:04:05.9999999", "3:04 PM", // a time is one of today
}

func isDateTime(v string) bool {
	for _, form := range dateForms {
		if _, err := time.Parse(form, strings.TrimSpace(v)); err == nil {
			return true
		}
	}
	return false
}

// isFile says whether the last segment has a full stop with something behind it.
func isFile(v string) bool {
	name := v[strings.LastIndexByte(v, '/')+1:]
	dot := strings.IndexByte(name, '.')
	return dot >= 0 && strings.Trim(name[dot:], ".") != ""
}

func integer(v string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	return n, err == nil
}

func number(v string, form *regexp.Regexp) bool { return form.MatchString(strings.TrimSpace(v)) }

// decimalFits reports whether a number is within .NET's decimal type, of 96 bits.
func decimalFits(v string) bool {
	f, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(v), ",", ""), 64)
	return err == nil && math.Abs(f) < 7.9228162514264338e28
}

// ErrExpression is part of the error about a regular expression that cannot be read. .NET
// knows forms that this host does not: looking ahead and behind, and references.
var ErrExpression = errors.New("a regular expression that cannot be read")

// newConstraint makes the constraint `name` or `name(args)`.
func newConstraint(name, args string, hasArgs bool) (constraint, error) {
	key := strings.ToLower(name)
	if c, ok := plainConstraints[key]; ok {
		if hasArgs {
			return nil, fmt.Errorf("constraint %q takes no arguments", name)
		}
		return c, nil
	}
	if key == "regex" {
		re, err := regexp.Compile("(?i:" + args + ")")
		if err != nil {
			return nil, fmt.Errorf("constraint %q: %w: %w", name, ErrExpression, err)
		}
		return re.MatchString, nil
	}
	var low, high int64 = math.MinInt64, math.MaxInt64
	var bounds []*int64
	switch key {
	case "minlength", "min":
		bounds = []*int64{&low}
	case "maxlength", "max":
		bounds = []*int64{&high}
	case "range", "length":
		bounds = []*int64{&low, &high}
	default:
		return nil, fmt.Errorf("constraint %q is not known", name)
	}
	texts := strings.Split(args, ",")
	exact := key == "length" && len(texts) == 1
	if !exact && len(texts) != len(bounds) {
		return nil, fmt.Errorf("constraint %q takes %d arguments, has %d", name, len(bounds), len(texts))
	}
	for i, text := range texts {
		n, ok := integer(text)
		if !ok {
			return nil, fmt.Errorf("constraint %q: argument %q is not an integer", name, text)
		}
		*bounds[i] = n
	}
	if exact {
		high = low
	}
	if low > high {
		return nil, fmt.Errorf("constraint %q: the lower bound is above the upper one", name)
	}
	if strings.HasSuffix(key, "length") {
		return func(v string) bool {
			n := int64(len(utf16.Encode([]rune(v)))) // as .NET counts
			return low <= n && n <= high
		}, nil
	}
	return func(v string) bool {
		n, ok := integer(v)
		return ok && low <= n && n <= high
	}, nil
}

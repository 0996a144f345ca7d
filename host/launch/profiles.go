package launch

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// A profile takes the place of parts of a description where all its conditions hold. The
// first such profile counts (spec workers 3.3).
type profile struct {
	ProfileName string
	Conditions  []condition
	Description description
}

// condition holds where the value of an environment variable or of a property of the host
// fits an expression. A condition of another type, or on something without a value, does
// not hold.
type condition struct {
	ConditionType       string
	ConditionName       string
	ConditionExpression string
}

func (c condition) holds(setting func(string) string) (bool, error) {
	value := ""
	switch strings.ToLower(c.ConditionType) {
	case "environment":
		value = setting(c.ConditionName)
	case "hostproperty": // hostVersion has no value: this host has no version of the platform's
		switch strings.ToLower(c.ConditionName) {
		case "platform":
			value = systemName()
		case "sku":
			value = setting("WEBSITE_SKU")
		}
	}
	if value == "" {
		return false, nil
	}
	expression, err := regexp.Compile(c.ConditionExpression)
	if err != nil {
		return false, err
	}
	return expression.MatchString(value), nil
}

// apply lays the profile that counts over the description.
func (d *description) apply(profiles []profile, setting func(string) string) error {
	for i, p := range profiles {
		all := len(p.Conditions) > 0
		for j, c := range p.Conditions {
			holds, err := c.holds(setting)
			if err != nil {
				return fmt.Errorf("%s: profiles[%d].conditions[%d].conditionExpression: %w", configFile, i, j, err)
			}
			all = all && holds
		}
		if !all {
			continue
		}
		over := &p.Description
		d.Language = cmp.Or(over.Language, d.Language)
		d.DefaultExecutablePath = cmp.Or(over.DefaultExecutablePath, d.DefaultExecutablePath)
		d.DefaultWorkerPath = cmp.Or(over.DefaultWorkerPath, d.DefaultWorkerPath)
		if len(over.Arguments) > 0 {
			d.Arguments = over.Arguments
		}
		if len(over.Extensions) > 0 {
			d.Extensions = over.Extensions
		}
		return nil
	}
	return nil
}

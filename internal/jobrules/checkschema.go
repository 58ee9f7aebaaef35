package jobrules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

// schema checks the object against the definition of its kind. Values of a wrong type are not checked, as the Go types of the
// kinds find them.
func (c *checker) schema(s *structural.Schema) {
	if s == nil {
		return
	}
	for _, f := range slices.Concat(s.Values(c.object), s.Duplicates(c.object), s.Broken(rules, c.object, nil)) {
		text, isText := f.Value.(string)
		switch {
		case isText && c.Open(text):
		case f.Code == structural.Duplicate:
			c.duplicate(f)
		case f.Code == structural.Broken && len(f.Path) == 0: // the rules about whole objects are about their names
			if _, known := c.name(); known {
				c.Invalid(at{"metadata", "name"}, nil, f.Rule.Message)
			}
		default:
			c.refuse(f)
		}
	}
}

func (c *checker) refuse(f structural.Fault) {
	s := f.Schema
	invalid := func(format string, limit any) { c.Invalid(f.Path, f.Value, fmt.Sprintf(format, limit)) }
	switch f.Code {
	case structural.Missing:
		c.Required(f.Path, "")
	case structural.NotSupported:
		c.Add(f.Path, field.ErrorTypeNotSupported, f.Value, "", s.Enum...)
	case structural.TooLong:
		invalid("must have at most %d characters", *s.MaxLength)
	case structural.TooShort:
		invalid("must have at least %d characters", *s.MinLength)
	case structural.NoMatch:
		invalid("must match %s", s.Pattern)
	case structural.Below:
		invalid("must be greater than or equal to %d", *s.Minimum)
	case structural.Above:
		invalid("must be less than or equal to %d", *s.Maximum)
	case structural.TooMany:
		invalid("must have at most %d items", *s.MaxItems)
	case structural.TooFew:
		invalid("must have at least %d items", *s.MinItems)
	case structural.TooManyEntries:
		invalid("must have at most %d entries", *s.MaxProperties)
	case structural.Broken:
		c.Invalid(f.Path, plain(f.Value), f.Rule.Message)
	}
}

// duplicate reports an item of a list that equals an earlier one. What is not known is not compared.
func (c *checker) duplicate(f structural.Fault) {
	keys, isMap := f.Value.(map[string]any)
	if f.Schema.ListType == "set" || !isMap {
		c.Add(f.Path, field.ErrorTypeDuplicate, fmt.Sprint(f.Value), "")
		return
	}
	var parts []string
	for _, key := range f.Schema.MapKeys {
		text, isText := keys[key].(string)
		if keys[key] == nil || isText && c.Open(text) {
			return
		}
		parts = append(parts, fmt.Sprint(keys[key]))
	}
	p := f.Path
	if len(parts) == 1 {
		p = p.To(f.Schema.MapKeys[0])
	}
	c.Add(p, field.ErrorTypeDuplicate, strings.Join(parts, "/"), "")
}

// plain returns a value as a message shows it: objects and lists are left out.
func plain(v any) any {
	switch v.(type) {
	case map[string]any, []any:
		return nil
	}
	return v
}

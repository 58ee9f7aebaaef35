package mcpcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// mostInteger is the largest whole number that JSON's numbers hold exactly.
const mostInteger = 1 << 53

// checked decodes the arguments of a tool. What is null is not given.
func (c command) checked(data json.RawMessage) (map[string]any, error) {
	arguments := map[string]any{}
	if data = bytes.TrimSpace(data); len(data) > 0 {
		if err := json.Unmarshal(data, &arguments); err != nil {
			return nil, errs.Usagef("the arguments of %s must be a JSON object", c.name)
		}
	}
	accepted := c.accepted()
	var names []string
	for _, a := range accepted {
		names = append(names, a.name)
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if slices.Contains(names, name) {
			continue
		}
		e := errs.Usagef("%s has no argument %s", c.name, shown(name))
		if near := errs.Near(strings.ReplaceAll(name, "-", "_"), names); len(near) > 0 {
			e.WithFact("did you mean", strings.Join(near, ", "))
		}
		return nil, c.lists(e)
	}
	for _, a := range accepted {
		value := arguments[a.name]
		switch {
		case value != nil:
			if err := a.check(value); err != nil {
				return nil, err
			}
		case a.required:
			return nil, c.lists(errs.Usagef("%s requires the argument %s: %s", c.name, a.name, a.help))
		default:
			delete(arguments, a.name)
		}
	}
	return arguments, nil
}

// accepted returns the arguments of a tool, of one that writes with the token.
func (c command) accepted() []argument {
	if c.write == "" {
		return c.args
	}
	return append(slices.Clip(c.args), confirmation)
}

// lists adds the arguments that the tool has to an error.
func (c command) lists(e *errs.Error) *errs.Error {
	var names []string
	for _, a := range c.accepted() {
		text := a.name
		if a.required {
			text += " (required)"
		}
		names = append(names, text)
	}
	if len(names) == 0 {
		return e.WithFact("arguments", "none")
	}
	return e.WithFact("arguments", strings.Join(names, ", "))
}

// check checks the type and the limits of a value.
func (a argument) check(value any) error {
	must := ""
	switch a.kind {
	case "string":
		text, ok := value.(string)
		switch {
		case !ok:
			must = "must be a string"
		case a.words != nil && !slices.Contains(a.words, text):
			must = "must be one of " + strings.Join(a.words, ", ")
		}
	case "boolean":
		if _, ok := value.(bool); !ok {
			must = "must be true or false"
		}
	case "integer":
		n, ok := value.(float64)
		switch {
		case !ok || n != math.Trunc(n) || math.Abs(n) > mostInteger:
			must = "must be a whole number"
		case a.most > 0 && (n < 0 || n > a.most):
			must = fmt.Sprintf("must be between 0 and %.0f", a.most)
		}
	case "array":
		list, ok := value.([]any)
		if !ok || slices.ContainsFunc(list, func(one any) bool { _, text := one.(string); return !text }) {
			must = `must be an array of strings, such as ["a","b"]`
		}
	}
	if must == "" {
		return nil
	}
	return errs.Usagef("invalid %s %s: %s", a.name, shown(value), must)
}

// shown returns a value as JSON, at most as long as an error should repeat it.
func shown(value any) string {
	const most = 200
	text, err := json.Marshal(value)
	if err != nil || len(text) > most {
		return "value"
	}
	return string(text)
}

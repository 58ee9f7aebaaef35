package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// Kind says what is wrong with a document.
type Kind string

// The kinds of faults. Those of warnings come last.
const (
	Syntax        Kind = "Syntax"        // Got is the reader's message
	Documents     Kind = "Documents"     // Got is how many documents there are, in place of one
	UnknownMember Kind = "UnknownMember" // Got is the name, Want the names there are
	UnknownWord   Kind = "UnknownWord"   // Got is the word, Want the words there are
	WrongType     Kind = "WrongType"     // Got describes the value, Want is the type
	Missing       Kind = "Missing"       // Got is the name of the member
	Length        Kind = "Length"        // Got is the length of the text, between Min and Max
	Size          Kind = "Size"          // Got is the number of elements
	Range         Kind = "Range"         // Got is the number
	Pattern       Kind = "Pattern"       // Got is the text, Want the pattern
	Union         Kind = "Union"         // Got is how many members are set, in place of one; Want are their names
	Twice         Kind = "Twice"         // Got is the name of a group that another group has
	NoInstances   Kind = "NoInstances"   // neither or both of Want are set
	MinCount      Kind = "MinCount"      // Got is a minimum count above the count, which is Max

	Spelling        Kind = "Spelling"        // Got is understood as Want
	UnknownInstance Kind = "UnknownInstance" // Got is an instance type that this program does not know
	Fixed           Kind = "Fixed"           // Got is a member that cannot change; it is not sent
	Unchecked       Kind = "Unchecked"       // Got is a member or word that this program does not know; it is sent
)

// Fault is something that is wrong with a document, at a place of its file.
type Fault struct {
	Line, Column int
	// Path names the value: InstanceGroups[0].InstanceType.
	Path     string
	Kind     Kind
	Got      string
	Want     []string
	Near     []string
	Min, Max int
}

// IsWarning reports a fault with which the document is sent nevertheless.
func (f Fault) IsWarning() bool {
	return slices.Contains([]Kind{Spelling, UnknownInstance, Fixed, Unchecked}, f.Kind)
}

// Rules are how a document is checked.
type Rules struct {
	Shape *Shape
	// Unknown lets members and words pass that the model does not have.
	Unknown bool
	// Exists reports an instance group that the cluster has: the members that the file
	// leaves out keep their values. nil is a cluster that does not exist yet.
	Exists func(group string) bool
	// Named tells that the name of the cluster is given elsewhere.
	Named bool
	// Fixed are members of the request that creates the cluster which cannot change.
	Fixed []string
	// Known reports an instance type that this program knows.
	Known func(instanceType string) bool
}

// mostFaults are the faults that one check returns.
const mostFaults = 50

// Parse reads a document, in JSON or YAML, and checks it. The document has the members
// in the spelling of the API. It is nil if the text cannot be read.
func Parse(data []byte, r Rules) (map[string]any, []Fault) {
	text := string(data)
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		// JSON may be indented with tabs, YAML may not. JSON has no tab inside a text.
		text = strings.ReplaceAll(text, "\t", " ")
	}
	docs, broken := manifest.ParseAll([]byte(text))
	c := &checker{Rules: r}
	for _, err := range broken {
		f := Fault{Line: 1, Column: 1, Kind: Syntax, Got: err.Error()}
		var l *manifest.LineError
		if errors.As(err, &l) {
			f.Line, f.Column, f.Got = max(l.Line, 1), max(l.Column, 1), l.Text
		}
		c.faults = append(c.faults, f)
	}
	if len(broken) == 0 && len(docs) != 1 {
		c.faults = append(c.faults, Fault{Line: 1, Column: 1, Kind: Documents, Got: strconv.Itoa(len(docs))})
	}
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	c.value(docs[0], r.Shape, "")
	if docs[0].Kind == manifest.MapNode {
		c.cluster(docs[0])
	}
	slices.SortStableFunc(c.faults, func(a, b Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if len(c.faults) > mostFaults {
		c.faults = c.faults[:mostFaults]
	}
	out, _ := docs[0].Plain().(map[string]any)
	return out, c.faults
}

type checker struct {
	Rules
	faults []Fault
}

func (c *checker) add(n *manifest.Node, path string, k Kind, got string, want ...string) *Fault {
	f := Fault{Line: n.Line, Column: n.Column, Path: path, Kind: k, Got: got, Want: want}
	if k == UnknownMember || k == UnknownWord {
		if f.Near = errs.Near(got, want); c.Unknown {
			f.Kind = Unchecked
		}
	}
	c.faults = append(c.faults, f)
	return &c.faults[len(c.faults)-1]
}

// value checks a value against a shape. It corrects the spelling of members.
func (c *checker) value(n *manifest.Node, s *Shape, path string) {
	switch s.Type {
	case Structure:
		if n.Kind == manifest.MapNode {
			c.structure(n, s, path)
			return
		}
	case List:
		if n.Kind == manifest.ListNode {
			c.size(n, s, path, len(n.Items), Size)
			for i, item := range n.Items {
				c.value(item, s.Element, fmt.Sprintf("%s[%d]", path, i))
			}
			return
		}
	case Map:
		if n.Kind == manifest.MapNode {
			c.size(n, s, path, len(n.Fields), Size)
			for _, f := range n.Fields {
				at := manifest.Node{Line: f.Line, Column: f.Column, Value: f.Key, Text: f.Key}
				c.text(&at, s.Key, manifest.JoinPath(path, f.Key), f.Key)
				c.value(f.Value, s.Element, manifest.JoinPath(path, f.Key))
			}
			return
		}
	case Text:
		if v, ok := n.Value.(string); ok && n.Kind == manifest.ScalarNode {
			c.text(n, s, path, v)
			return
		}
	case Integer:
		if v, ok := n.Value.(int64); ok && n.Kind == manifest.ScalarNode {
			if int64(s.Min) > v || s.Max > 0 && v > int64(s.Max) {
				f := c.add(n, path, Range, strconv.FormatInt(v, 10))
				f.Min, f.Max = s.Min, s.Max
			}
			return
		}
	case Boolean:
		if _, ok := n.Value.(bool); ok && n.Kind == manifest.ScalarNode {
			return
		}
	}
	c.add(n, path, WrongType, n.Describe(false), string(s.Type))
}

func (c *checker) structure(n *manifest.Node, s *Shape, path string) {
	set := 0
	for i := range n.Fields {
		f := &n.Fields[i]
		at := &manifest.Node{Line: f.Line, Column: f.Column}
		m := s.member(f.Key)
		if m == nil {
			near := slices.IndexFunc(s.Members, func(m Member) bool { return strings.EqualFold(m.Name, f.Key) })
			switch {
			case near >= 0 && n.Get(s.Members[near].Name) == nil:
				m = &s.Members[near]
				c.add(at, manifest.JoinPath(path, f.Key), Spelling, f.Key, m.Name)
				f.Key = m.Name
			case path == "" && slices.Contains(c.Fixed, f.Key):
				c.add(at, f.Key, Fixed, f.Key)
				continue
			default:
				c.add(at, manifest.JoinPath(path, f.Key), UnknownMember, f.Key, s.names()...)
				continue
			}
		}
		set++
		c.value(f.Value, m.Shape, manifest.JoinPath(path, m.Name))
	}
	n.Fields = slices.DeleteFunc(n.Fields, func(f manifest.Field) bool {
		return path == "" && s.member(f.Key) == nil && slices.Contains(c.Fixed, f.Key)
	})
	if s.Union && set != 1 {
		c.add(n, path, Union, strconv.Itoa(set), s.names()...)
	}
	for _, m := range s.Members {
		named := c.Named && path == "" && m.Name == "ClusterName"
		if m.Required && n.Get(m.Name) == nil && !c.kept(n, m.Name) && !named {
			c.add(n, path, Missing, m.Name)
		}
	}
}

// kept reports a member that an existing group keeps.
func (c *checker) kept(n *manifest.Node, member string) bool {
	name := n.Get("InstanceGroupName")
	return c.Exists != nil && name != nil && member != "InstanceGroupName" && c.Exists(name.Str())
}

func (c *checker) text(n *manifest.Node, s *Shape, path, v string) {
	switch {
	case len(s.Enum) > 0:
		if !slices.Contains(s.Enum, v) {
			c.add(n, path, UnknownWord, v, s.Enum...)
		}
		return
	case s.Open && whole(s.Pattern, v):
		if c.Known != nil && !c.Known(v) {
			c.add(n, path, UnknownInstance, v)
		}
		return
	}
	if c.size(n, s, path, utf8.RuneCountInString(v), Length) && s.Pattern != "" && !whole(s.Pattern, v) {
		c.add(n, path, Pattern, v, s.Pattern)
	}
}

// size checks a length or a number of elements.
func (c *checker) size(n *manifest.Node, s *Shape, path string, have int, k Kind) bool {
	if have >= s.Min && (s.Max == 0 || have <= s.Max) {
		return true
	}
	f := c.add(n, path, k, strconv.Itoa(have))
	f.Min, f.Max = s.Min, s.Max
	return false
}

// whole reports a text that matches a pattern from its start to its end.
func whole(pattern, v string) bool {
	return regexp.MustCompile(`\A(?:` + pattern + `)\z`).MatchString(v)
}

// cluster checks what the model does not say: names that must differ, members that exclude
// each other.
func (c *checker) cluster(n *manifest.Node) {
	groups, restricted := n.Get("InstanceGroups"), n.Get("RestrictedInstanceGroups")
	seen := map[string]bool{}
	for _, list := range []struct {
		of   *manifest.Node
		path string
	}{{groups, "InstanceGroups"}, {restricted, "RestrictedInstanceGroups"}} {
		if list.of == nil {
			continue
		}
		for i, g := range list.of.Items {
			path := fmt.Sprintf("%s[%d]", list.path, i)
			name := g.Get("InstanceGroupName")
			if name != nil && seen[name.Str()] {
				c.add(name, path+".InstanceGroupName", Twice, name.Str())
			}
			if name != nil {
				seen[name.Str()] = true
			}
			has, flexible := g.Get("InstanceType") != nil, g.Get("InstanceRequirements") != nil
			if list.of == groups && g.Kind == manifest.MapNode && (has && flexible || !has && !flexible && !c.kept(g, "InstanceType")) {
				c.add(g, path, NoInstances, "", "InstanceType", "InstanceRequirements")
			}
			least, okLeast := number(g.Get("MinInstanceCount"))
			most, okMost := number(g.Get("InstanceCount"))
			if okLeast && okMost && least > most {
				c.add(g.Get("MinInstanceCount"), path+".MinInstanceCount", MinCount, strconv.FormatInt(least, 10)).Max = int(most)
			}
		}
	}
}

func number(n *manifest.Node) (int64, bool) {
	if n == nil {
		return 0, false
	}
	v, ok := n.Value.(int64)
	return v, ok
}

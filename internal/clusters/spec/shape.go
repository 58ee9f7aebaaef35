// Package spec knows the documents that create and change HyperPod clusters: their
// members and constraints, as the service model of SageMaker has them. It checks a file
// against them, turns a described instance group back into a specification, and compares
// two specifications. It is pure, and returns values without words.
package spec

// Type is the type of a value in a document.
type Type string

// The types.
const (
	Structure Type = "structure"
	List      Type = "list"
	Map       Type = "map"
	Text      Type = "string"
	Integer   Type = "integer"
	Boolean   Type = "boolean"
)

// Shape is what a value must be like.
type Shape struct {
	Type    Type
	Members []Member
	// Element is the element of a list or the value of a map, Key the key of a map.
	Element, Key *Shape
	// Min and Max bound a number, the length of a text, or the number of elements.
	// A Max of 0 is none.
	Min, Max int
	// Pattern matches the whole text.
	Pattern string
	// Enum lists the words that the model knows.
	Enum []string
	// Open: AWS adds words often, so an unknown one is only a warning.
	Open bool
	// Union: exactly one member is set.
	Union bool
}

// Member is a member of a structure.
type Member struct {
	Name     string
	Required bool
	Shape    *Shape
}

// member returns the member of that name.
func (s *Shape) member(name string) *Member {
	for i := range s.Members {
		if s.Members[i].Name == name {
			return &s.Members[i]
		}
	}
	return nil
}

func (s *Shape) names() []string {
	out := make([]string, len(s.Members))
	for i, m := range s.Members {
		out[i] = m.Name
	}
	return out
}

func needs(name string, s *Shape) Member { return Member{name, true, s} }
func may(name string, s *Shape) Member   { return Member{name, false, s} }

func structure(members ...Member) *Shape { return &Shape{Type: Structure, Members: members} }
func text(least, most int, pattern string) *Shape {
	return &Shape{Type: Text, Min: least, Max: most, Pattern: pattern}
}
func integer(least, most int) *Shape { return &Shape{Type: Integer, Min: least, Max: most} }
func word(words ...string) *Shape    { return &Shape{Type: Text, Enum: words} }
func boolean() *Shape                { return &Shape{Type: Boolean} }
func list(least, most int, e *Shape) *Shape {
	return &Shape{Type: List, Min: least, Max: most, Element: e}
}
func mapping(most int, key, v *Shape) *Shape {
	return &Shape{Type: Map, Max: most, Key: key, Element: v}
}

package startjob

// counted is the value of a flag that can be given only once: of two files the first would be ignored silently. It counts, and
// Validate refuses a second value, because completion parses a command line several times.
type counted struct {
	to    *string
	times *int
}

func (c *counted) Set(text string) error {
	*c.to = text
	*c.times++
	return nil
}

func (c *counted) String() string {
	if c.to == nil {
		return ""
	}
	return *c.to
}

func (*counted) Type() string { return "string" }

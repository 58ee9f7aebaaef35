package kinds

// Column is a column of a CRD (additionalPrinterColumns): the value at a path, or the status of a condition.
type Column struct {
	Name      string
	At        []string
	Condition string
}

package patch

// Worded words an error for a person, as the commands do. The package that does it
// imports this one.
var Worded func(error) error

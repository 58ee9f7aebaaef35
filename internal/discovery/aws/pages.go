package aws

import (
	"errors"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// errEndless is the error of a list whose pages do not end.
var errEndless = errors.New("the list does not end")

// pages reads the pages of a list: the first with the token "", each other one with the token of the page before it.
func pages(read func(token string) (next string, err error)) error {
	token := ""
	for range bounded.Pages {
		next, err := read(token)
		if err != nil || next == "" {
			return err
		}
		if next == token {
			return errEndless
		}
		token = next
	}
	return errEndless
}

// pages reads the pages of an operation of SageMaker that lists.
func pagesOf(in Document, read func() (next string, err error)) error {
	return pages(func(token string) (string, error) {
		if token != "" {
			in["NextToken"] = token
		}
		return read()
	})
}

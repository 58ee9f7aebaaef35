package aws

import (
	"errors"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// errEndless is the error of a list whose pages do not end.
var errEndless = errors.New("the list does not end")

// mostListBytes bounds the answers of all pages of a list together: 100,000 nodes are about 100 MiB.
const mostListBytes = 256 << 20

// pages reads the pages of a list: the first with the token "", each other one with the token of the page before it.
func (c *Client) pages(read func(token string) (next string, err error)) error {
	token, before, tokens := "", c.received.Load(), listed{}
	for range bounded.Pages {
		next, err := read(token)
		if err != nil || next == "" {
			return err
		}
		if c.received.Load()-before > mostListBytes {
			return fmt.Errorf("the list is too large: %w", &bounded.TooLarge{Most: mostListBytes})
		}
		if !tokens.first(next) {
			return errEndless
		}
		token = next
	}
	return errEndless
}

// listed holds the ids of what a list has: pages overlap when a list changes between them.
type listed map[string]bool

// first reports whether an id comes for the first time. What has no id counts each time.
func (l listed) first(id string) bool {
	if id != "" && l[id] {
		return false
	}
	l[id] = true
	return true
}

// pagesOf reads the pages of an operation of SageMaker that lists.
func (c *Client) pagesOf(in Document, read func() (next string, err error)) error {
	return c.pages(func(token string) (string, error) {
		if token != "" {
			in["NextToken"] = token
		}
		return read()
	})
}

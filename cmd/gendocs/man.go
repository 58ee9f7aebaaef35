package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manDate returns the date of manual pages: SOURCE_DATE_EPOCH, or one that never changes.
func manDate(env func(string) string) time.Time {
	n, err := strconv.ParseInt(env("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Unix(n, 0).UTC()
}

// manPages returns a manual page for each command and help topic, by file name.
func manPages(date time.Time) (map[string][]byte, error) {
	out := map[string][]byte{}
	t, _ := tree()
	t.root.DisableAutoGenTag = true
	var visit func(*cobra.Command) error
	visit = func(c *cobra.Command) error {
		if !c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() && c != t.root {
			return nil
		}
		if c.IsAdditionalHelpTopicCommand() {
			c.Long = "    " + strings.ReplaceAll(c.Long, "\n", "\n    ") // a table, whose lines stay as they are
			c.DisableFlagsInUseLine = true
		} else {
			c.Long = manText(c.Long)
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		var page bytes.Buffer
		header := doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &date, Source: "hyperpod", Manual: "hyperpod"}
		if err := doc.GenMan(c, &header, &page); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out[name+".1"] = page.Bytes()
		for _, child := range c.Commands() {
			if err := visit(child); err != nil {
				return err
			}
		}
		return nil
	}
	return out, visit(t.root)
}

// manText returns a help text as Markdown: an item of a numbered list on one line, other indented lines as literal text.
func manText(long string) string {
	var out []string
	item, literal := false, false
	for _, line := range strings.Split(long, "\n") {
		text := strings.TrimLeft(line, " ")
		indented := text != "" && text != line
		switch number, _, numbered := strings.Cut(text, ". "); {
		case indented && numbered && strings.Trim(number, "0123456789") == "":
			item, literal = true, false
			out = append(out, line)
		case indented && item:
			out[len(out)-1] += " " + text
		case indented:
			if !literal {
				out = append(out, "") // Markdown takes the line before for the same paragraph
			}
			literal = true
			out = append(out, "    "+strings.TrimPrefix(line, "  "))
		default:
			if literal && text != "" {
				out = append(out, "")
			}
			item, literal = false, false
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// writeMan writes the manual pages, compressed as distributions have them.
func writeMan(dir string) error {
	pages, err := manPages(manDate(os.Getenv))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, page := range pages {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(page)
		}
		if err == nil {
			err = z.Close()
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".gz"), b.Bytes(), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

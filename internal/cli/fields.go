package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/docs"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// completeFormats completes -o of a command with its formats, and after custom-columns= with
// the columns that its document has.
func completeFormats(f *factory.Factory, c *cobra.Command, names []string) {
	f.CompleteFlagBy(c, "output", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		const columns = string(output.CustomColumns) + "="
		return f.CompleteWith(cmd, prefix, func(context.Context, *factory.Factory) ([]string, error) {
			given, ok := strings.CutPrefix(prefix, columns)
			if !ok {
				return slices.Clone(names), nil
			}
			given = given[:strings.LastIndex(given, ",")+1]
			keys, err := rowKeys(cmd)
			var out []string
			for _, key := range keys {
				out = append(out, columns+given+strings.ToUpper(key)+":."+key)
			}
			return out, err
		})
	})
}

// rowKeys returns the keys of the rows of a command's document, or of the document where it has
// no rows; none where the binary has no schema of it.
func rowKeys(cmd *cobra.Command) ([]string, error) {
	type schema struct {
		Properties map[string]struct {
			Items *schema
		}
	}
	// get-job shows columns of the object, not of the document.
	name := strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), "hyperpod "), " ", "-")
	data, err := docs.Files.ReadFile("schema/" + name + ".json")
	if err != nil || name == "get-job" {
		return nil, err
	}
	var s schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	rows := map[string]string{"get-quota": "Quota", "get-queue": "Pending"}[name]
	for key := range s.Properties {
		if strings.ToLower(key[:1]) == key[:1] { // the list of a list command
			rows = key
		}
	}
	if of, ok := s.Properties[rows]; ok && of.Items != nil {
		s = *of.Items
	}
	var keys []string
	for key := range s.Properties {
		keys = append(keys, key)
	}
	return keys, nil
}

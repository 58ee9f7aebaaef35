package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// formatsOf returns the output formats of every command that has any, by its path.
// -o of another command, or with another format, is a usage error before anything
// is read or changed.
func formatsOf() map[string][]output.Name {
	templates := []output.Name{output.JSONPath, output.JSONPathFile, output.CustomColumns, output.CustomColumnsFile}
	with := func(names ...output.Name) []output.Name { return append(names, templates...) }
	document := with(output.JSON, output.YAML, output.NameFormat)
	page := with(output.JSON, output.YAML, output.TableFormat, output.NameFormat)
	table := with(output.JSON, output.YAML, output.TableFormat, output.Wide, output.NameFormat)
	measured := with(output.JSON, output.YAML, output.TableFormat, output.Wide, output.NameFormat, output.Prometheus)
	formats := map[string][]output.Name{
		"hyperpod start-job":           page,
		"hyperpod list-jobs":           table,
		"hyperpod get-job":             page,
		"hyperpod explain-job":         table,
		"hyperpod wait-job":            table,
		"hyperpod patch-job suspend":   document,
		"hyperpod patch-job unsuspend": document,
		"hyperpod patch-job priority":  document,
		"hyperpod cancel-job":          document,
		"hyperpod list-pods":           table,
		"hyperpod get-log":             {output.JSON},
		"hyperpod copy-file":           {output.NameFormat},
		"hyperpod delete-template":     {output.NameFormat},
		"hyperpod get-quota":           measured,
		"hyperpod get-queue":           measured,
		"hyperpod get-usage":           with(output.JSON, output.YAML, output.TableFormat, output.Wide, output.CSV, output.NameFormat),
		"hyperpod report":              with(output.JSON, output.YAML, output.TableFormat, output.Wide, output.Markdown, output.HTML, output.CSV, output.FOCUS),
		"hyperpod get-clusters":        table,
		"hyperpod describe-cluster":    page,
		"hyperpod list-cluster-nodes":  table,
		"hyperpod list-cluster-events": table,
		"hyperpod connect-cluster":     {output.NameFormat},
		"hyperpod list-templates":      table,
		"hyperpod get-template":        page,
		"hyperpod create-template":     document,
		"hyperpod validate-template":   with(output.JSON, output.YAML, output.TableFormat),
		"hyperpod list-instance-types": table,
		"hyperpod simulate":            table,
		"hyperpod governance audit":    with(output.JSON, output.YAML, output.TableFormat, output.Wide, output.PrometheusRules),
		"hyperpod governance rbac":     with(output.JSON, output.YAML, output.TableFormat, output.Wide),
		"hyperpod governance export":   with(output.JSON, output.YAML, output.TableFormat, output.Wide, output.Terraform),
		"hyperpod governance check":    with(output.JSON, output.YAML, output.TableFormat, output.Wide, output.SARIF),
		"hyperpod governance plan":     with(output.JSON, output.YAML, output.TableFormat, output.Wide, output.Markdown),
		"hyperpod save-snapshot":       page,
		"hyperpod sandbox list":        table,
		"hyperpod config view":         table,
		"hyperpod doctor":              with(output.JSON, output.YAML, output.TableFormat, output.Wide),
		"hyperpod version":             {output.JSON, output.YAML},
		"hyperpod help":                {output.JSON},

		"hyperpod create-cluster":          document,
		"hyperpod update-cluster":          {output.JSON, output.YAML, output.NameFormat},
		"hyperpod update-cluster-software": {output.JSON, output.YAML, output.NameFormat},
		"hyperpod delete-cluster":          {output.NameFormat},
		"hyperpod add-cluster-nodes":       page,
		"hyperpod check-cluster-nodes":     page,
		"hyperpod reboot-cluster-nodes":    page,
		"hyperpod replace-cluster-nodes":   page,
		"hyperpod delete-cluster-nodes":    page,
	}
	for path, names := range formats {
		if i := slices.Index(names, output.JSON); i >= 0 {
			formats[path] = slices.Insert(slices.Clone(names), i+1, output.JSONLines)
		}
	}
	return formats
}

// addFormats gives every command an -o of its own that lists its formats in help
// and completion. Commands that print no document keep a hidden one.
func addFormats(f *factory.Factory, root *cobra.Command) {
	formats := formatsOf()
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.HasParent() && !c.HasSubCommands() {
			names := flagValues(formats[c.CommandPath()])
			c.Flags().StringVarP(&f.Global.Output, "output", "o", "", "output format: "+strings.Join(names, ", "))
			if len(names) == 0 {
				c.Flags().Lookup("output").Hidden = true
			}
			completeFormats(f, c, names)
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(root)
}

// flagValues are formats as they are written after -o; those that take an argument
// end in "=".
func flagValues(names []output.Name) (out []string) {
	for _, text := range output.FormatNames() {
		if slices.Contains(names, output.Name(strings.TrimSuffix(text, "="))) {
			out = append(out, text)
		}
	}
	return out
}

// checkFormat refuses an -o that the command does not have.
func checkFormat(f *factory.Factory, cmd *cobra.Command) error {
	if f.Global.Output == "" {
		return nil
	}
	name, _, _ := strings.Cut(strings.ToLower(f.Global.Output), "=")
	has := formatsOf()[cmd.CommandPath()]
	switch {
	case slices.Contains(has, output.Name(name)):
		f.Global.Output = name + f.Global.Output[len(name):] // lower case
		return nil
	case len(has) == 0:
		return errs.Usagef("%s does not support -o", strings.TrimPrefix(cmd.CommandPath(), "hyperpod ")).Suggest(helpOf(cmd))
	}
	values := flagValues(has)
	e := errs.Usagef("%s does not support -o %q", strings.TrimPrefix(cmd.CommandPath(), "hyperpod "), name).WithFact("available", strings.Join(values, ", "))
	return e.Suggest(errs.Option("-o", append(errs.Near(name, values), values[0])[0]))
}

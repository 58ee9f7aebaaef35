package plantext

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
)

// Markdown returns a plan as a comment on a pull request.
func Markdown(p *plan.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Governance plan of `%s`\n\n**%s**\n", code(p.File), escape(Summary(p)))
	if lines := Changes(p); len(lines) > 0 {
		b.WriteString("\n```diff\n")
		for _, l := range lines {
			// ~ has no color in a diff; ! has.
			b.WriteString(strings.Replace(code(l), "~ ", "! ", 1) + "\n")
		}
		b.WriteString("```\n")
	}
	if c := p.Consequences; c != nil {
		if rows, more := Rows(c, MostRows); len(rows) > 0 {
			fmt.Fprintf(&b, "\n| TEAM | RESOURCE | %s |\n|---|---|%s\n", strings.Join(Figures, " | "), strings.Repeat("---:|", len(Figures)))
			for _, r := range rows {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", escape(r.Team), escape(r.Resource), strings.Join(r.Cells, " | "))
			}
			if more > 0 {
				fmt.Fprintf(&b, "\nand %d more rows (-o json)\n", more)
			}
		}
		b.WriteString("\n")
		for _, l := range Effects(c) {
			fmt.Fprintf(&b, "* %s\n", escape(l))
		}
	}
	for i, l := range Remarks(p) {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "* %s\n", escape(l))
	}
	return b.String()
}

var special = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "'", "[", `\[`, "\n", " ")

func escape(s string) string { return special.Replace(s) }

// code returns a text within backticks or a code block.
func code(s string) string { return strings.NewReplacer("`", "'", "\n", " ").Replace(s) }

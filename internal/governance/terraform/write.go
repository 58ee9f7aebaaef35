package terraform

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// expression is HCL that is written as it is.
type expression string

// Write returns the resources of a document: the add-on, the policy, and an allocation for
// each team. The cluster is a variable. Unexpressed says what is left out.
func Write(d *policy.Document) []byte {
	w := &writer{}
	w.line(0, `variable "cluster_arn" {`)
	w.line(1, `description = "ARN of the HyperPod cluster"`)
	w.line(1, `type        = string`)
	w.line(0, `}`)
	w.line(0, "")
	w.line(0, `variable "eks_cluster_name" {`)
	w.line(1, `description = "name of the EKS cluster that orchestrates it"`)
	w.line(1, `type        = string`)
	w.line(0, `}`)
	w.resource(AddonType, "task_governance", addonResource{ClusterName: "var.eks_cluster_name", AddonName: Addon}, "")
	addon := AddonType + ".task_governance"
	if d.Policy != nil {
		w.resource(PolicyType, "policy", policyOf(*d.Policy), addon)
	}
	for _, t := range d.Teams {
		if onlyKueue(t) {
			continue
		}
		w.resource(QuotaType, label(t.Team), quotaOf(t), addon)
	}
	return []byte(w.text.String())
}

// label returns the name of a team's resource.
func label(team string) string {
	name := strings.ReplaceAll(team, "-", "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "team_" + name
	}
	return name
}

type writer struct{ text strings.Builder }

func (w *writer) line(depth int, text string) {
	if text != "" {
		w.text.WriteString(strings.Repeat("  ", depth) + text)
	}
	w.text.WriteByte('\n')
}

func (w *writer) resource(kind, name string, values any, after string) {
	w.line(0, "")
	w.line(0, fmt.Sprintf("resource %s %s {", quote(kind), quote(name)))
	w.body(1, reflect.ValueOf(values))
	if after != "" {
		w.line(0, "")
		w.line(1, "depends_on = ["+after+"]")
	}
	w.line(0, "}")
}

// body writes the attributes of a struct, in its order. Attributes of one line that follow
// each other are aligned, as terraform fmt does it.
func (w *writer) body(depth int, v reflect.Value) {
	type attribute struct {
		name string
		v    reflect.Value
	}
	var all []attribute
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if f := v.Field(i); option == "" || !f.IsZero() {
			all = append(all, attribute{name, reflect.Indirect(f)})
		}
	}
	for i := 0; i < len(all); {
		end, width := i, 0
		for ; end < len(all) && single(all[end].v); end++ {
			width = max(width, len(all[end].name))
		}
		for ; i < end; i++ {
			w.line(depth, fmt.Sprintf("%-*s = %s", width, all[i].name, scalar(all[i].v)))
		}
		if i < len(all) {
			w.nested(depth, all[i].name+" = ", all[i].v)
			i++
		}
	}
}

// nested writes an object or a list of objects.
func (w *writer) nested(depth int, start string, v reflect.Value) {
	if v.Kind() == reflect.Struct {
		w.line(depth, start+"{")
		w.body(depth+1, v)
		w.line(depth, "}")
		return
	}
	w.line(depth, start+"[")
	for i := range v.Len() {
		w.line(depth+1, "{")
		w.body(depth+2, v.Index(i))
		w.line(depth+1, "},")
	}
	w.line(depth, "]")
}

func single(v reflect.Value) bool { return v.Kind() != reflect.Struct && v.Kind() != reflect.Slice }

func scalar(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case expression:
		return string(x)
	case string:
		return quote(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

// quote writes a string; templates in it stay text.
func quote(s string) string {
	out := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{", "%%{").Replace(s)
	return `"` + out + `"`
}

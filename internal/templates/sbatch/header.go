package sbatch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// option is an option of sbatch and what it becomes.
type option struct {
	long, short string
	// flag: it has no value.
	flag bool
	read func(r *reader, value string) (fault string)
}

// options are those of sbatch's manual that training scripts use. Those that no job of
// Kubernetes can have are refused with the reason.
var options = []option{
	{"job-name", "J", false, func(r *reader, v string) string { r.out.Values.Name = r.name(v); return "" }},
	{"nodes", "N", false, func(r *reader, v string) string { return count(v, &r.nodes) }},
	{"ntasks", "n", false, func(r *reader, v string) string { return count(v, &r.tasks) }},
	{"ntasks-per-node", "", false, func(r *reader, v string) string { return count(v, &r.tasksPerNode) }},
	{"gpus-per-node", "", false, func(r *reader, v string) string { return r.gpus(v, &r.gpusPerNode) }},
	{"gpus", "G", false, func(r *reader, v string) string { return r.gpus(v, &r.gpusInAll) }},
	{"gres", "", false, func(r *reader, v string) string {
		kind, n, _ := strings.Cut(v, ":")
		if kind != "gpu" {
			return "the resource " + kind + " has no counterpart"
		}
		if n == "" {
			n = "1"
		}
		return r.gpus(n, &r.gpusPerNode)
	}},
	{"cpus-per-task", "c", false, func(r *reader, v string) string { return count(v, &r.cpus) }},
	{"mem", "", false, func(r *reader, v string) string { return r.memory(v) }},
	{"time", "t", false, func(r *reader, v string) string { return r.time(v) }},
	{"output", "o", false, ignored("the log is that of the pods")},
	{"error", "e", false, ignored("the log is that of the pods")},
	{"open-mode", "", false, ignored("the log is that of the pods")},
	{"partition", "p", false, func(r *reader, v string) string { r.out.Partition = v; return "" }},
	{"account", "A", false, func(r *reader, v string) string { r.out.Account = v; return "" }},
	{"qos", "q", false, func(r *reader, v string) string { r.out.QOS = v; return "" }},
	{"export", "", false, func(r *reader, v string) string { return r.export(v) }},
	{"constraint", "C", false, func(r *reader, v string) string {
		if _, known := instances.Lookup(v); !known {
			return "a feature of nodes has no counterpart unless it is an instance type"
		}
		r.out.Values.InstanceType = v
		return ""
	}},
	{"exclusive", "", true, func(*reader, string) string { return "" }},
	{"requeue", "", true, ignored("HyperPod and Kueue decide about restarts")},
	{"no-requeue", "", true, ignored("HyperPod and Kueue decide about restarts")},
	{"wait-all-nodes", "", false, func(*reader, string) string { return "" }}, // Kueue admits all pods together
	{"mail-type", "", false, ignored("the wait for a job can notify")},
	{"mail-user", "", false, ignored("the wait for a job can notify")},
	{"comment", "", false, ignored("a job has annotations")},
	{"array", "a", false, refused("a job has no array tasks: start a sweep of jobs instead")},
	{"dependency", "d", false, refused("a job cannot wait for another: wait for that one first")},
	{"begin", "b", false, refused("a job has no earliest start time")},
	{"chdir", "D", false, refused("the folder of the cluster is not in the image")},
	{"nodelist", "w", false, refused("nodes are chosen by their labels")},
	{"exclude", "x", false, refused("nodes are chosen by their labels")},
	{"reservation", "", false, refused("Kueue has no reservations")},
	{"signal", "", false, refused("pods get SIGTERM before they are killed")},
	{"mem-per-gpu", "", false, refused("memory is requested for each node: use the option mem")},
	{"mem-per-cpu", "", false, refused("memory is requested for each node: use the option mem")},
	{"gpus-per-task", "", false, refused("accelerators are requested for each node: use the option gpus-per-node")},
}

// ignored returns an option that has no effect here, with the reason.
func ignored(why string) func(*reader, string) string {
	return func(r *reader, _ string) string { r.notef("--%s has no effect: %s", r.option, why); return "" }
}

// refused returns an option that cannot be expressed, with the reason.
func refused(why string) func(*reader, string) string {
	return func(*reader, string) string { return why }
}

// header reads the lines that begin with #SBATCH, up to the first command: those after it
// are comments for sbatch too.
func (r *reader) header(line int, text string) {
	rest := text[len("#SBATCH"):]
	list, ok := words(rest, line, len("#SBATCH")+1)
	if !ok {
		r.faultf(line, 1, "a quote is not closed")
		return
	}
	for i := 0; i < len(list); i++ {
		w := list[i]
		arg, ok := w.text()
		if !ok { // sbatch expands nothing
			r.faultf(w.line, w.column, "sbatch does not expand variables in its options")
			return
		}
		o, value, given, known := named(arg)
		if !known {
			r.faultf(w.line, w.column, "option %s is not supported%s", arg, manifest.DidYouMean(near(arg)))
			return
		}
		if !o.flag && !given {
			if i++; i >= len(list) {
				r.faultf(w.line, w.column, "--%s has no value", o.long)
				return
			}
			value, _ = list[i].text()
		}
		r.option, r.line = o.long, line
		if why := o.read(r, value); why != "" {
			r.faultf(w.line, w.column, "--%s cannot be expressed: %s", o.long, why)
		}
	}
}

// named finds an option, long or short, with its value joined to it or as the next word.
func named(arg string) (o option, value string, given, known bool) {
	if long, isLong := strings.CutPrefix(arg, "--"); isLong {
		name, value, given := strings.Cut(long, "=")
		for _, o := range options {
			if o.long == name {
				return o, value, given, true
			}
		}
		return option{}, "", false, false
	}
	for _, o := range options {
		if o.short != "" && strings.HasPrefix(arg, "-"+o.short) {
			value := strings.TrimPrefix(arg[2:], "=")
			return o, value, value != "", true
		}
	}
	return option{}, "", false, false
}

func near(arg string) []string {
	var all []string
	for _, o := range options {
		all = append(all, "--"+o.long)
	}
	name, _, _ := strings.Cut(arg, "=")
	return errs.Near(name, all)
}

func count(v string, to *int) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > 1<<20 {
		return fmt.Sprintf("%q is not a number of at least 1", v)
	}
	*to = n
	return ""
}

// gpus reads 8 or h100:8.
func (r *reader) gpus(v string, to *int) string {
	if at := strings.LastIndexByte(v, ':'); at >= 0 {
		r.notef("the type of accelerator in --%s=%s has no effect: the instance type decides", r.option, v)
		v = v[at+1:]
	}
	return count(v, to)
}

var size = pattern.Lazy(`^([0-9]+)([KMGT]?)B?$`)

// memory reads a size, in MiB without a unit.
func (r *reader) memory(v string) string {
	m := size().FindStringSubmatch(strings.ToUpper(v))
	switch {
	case m == nil:
		return fmt.Sprintf("%q is not a size such as 64G", v)
	case strings.Trim(m[1], "0") == "":
		return "" // all memory of the node, the default of templates with whole nodes
	case m[2] == "":
		m[2] = "M"
	}
	r.out.Values.Memory = m[1] + m[2] + "i"
	return ""
}

var limit = pattern.Lazy(`^(?:([0-9]{1,4})-)?([0-9]{1,6})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?$`)

// time reads minutes, minutes:seconds, hours:minutes:seconds, days-hours and so on.
func (r *reader) time(v string) string {
	if v == "0" || strings.EqualFold(v, "UNLIMITED") || strings.EqualFold(v, "INFINITE") {
		return ""
	}
	m := limit().FindStringSubmatch(v)
	if m == nil {
		return fmt.Sprintf("%q is not a time such as 1-12:00:00", v)
	}
	n := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	seconds := 0
	switch {
	case m[1] != "":
		seconds = ((n(1)*24+n(2))*60+n(3))*60 + n(4)
	case m[4] != "":
		seconds = (n(2)*60+n(3))*60 + n(4)
	default:
		seconds = n(2)*60 + n(3)
	}
	r.out.Values.RunPolicy.Deadline = values.Int(seconds)
	return ""
}

// export reads the variables of --export. Variables of the user's shell do not belong to a job.
func (r *reader) export(v string) string {
	for _, item := range strings.Split(v, ",") {
		name, value, given := strings.Cut(item, "=")
		switch {
		case item == "ALL" || item == "NONE" || item == "NIL":
		case !isName(name):
			return fmt.Sprintf("%q is not a variable", item)
		case !given:
			return "the value of " + name + " is in the shell of the user: write " + name + "=VALUE"
		default:
			r.set(name, value)
		}
	}
	return ""
}

var notInName = pattern.Lazy(`[^a-z0-9-]+`)

// name makes a name of Kubernetes of the name of a job.
func (r *reader) name(v string) string {
	name := strings.Trim(notInName().ReplaceAllString(strings.ToLower(v), "-"), "-")
	if name != v {
		r.notef("the job is named %s: names have lower-case letters, digits and hyphens", name)
	}
	return name
}

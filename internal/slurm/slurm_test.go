package slurm

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

func TestStateOf(t *testing.T) {
	for _, c := range []struct {
		state, reason string
		want          jobs.State
		known         bool
	}{
		{"PENDING", "Priority", jobs.Pending, true},
		{"PENDING", "JobHeldUser", jobs.Suspended, true},
		{"CANCELLED by 1000", "", jobs.Failed, true},
		{"CANCELLED+", "", jobs.Failed, true},
		{"COMPLETED", "", jobs.Succeeded, true},
		{"NEW_STATE", "", jobs.Running, false},
	} {
		if got, known := StateOf(c.state, c.reason); got != c.want || known != c.known {
			t.Errorf("%s (%s): %s, %v", c.state, c.reason, got, known)
		}
	}
}

// record is a job as squeue prints it.
func record(sep string, change map[string]string) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(change[f.name] + sep)
	}
	return b.String() + endOfRecord + "\n"
}

func TestParseQueue(t *testing.T) {
	const sep = "<x7>"
	text := record(sep, map[string]string{"JobArrayID": "12", "ArrayJobID": "12", "ArrayTaskID": "N/A", "Name": "a\nb|\x1b[31m", "State": "RUNNING", "NumNodes": "2",
		"tres-per-node": "gres:gpu:h100:8", "tres-alloc": "cpu=2,node=2", "SubmitTime": "1795423274", "StartTime": "1795423275", "Account": "(null)", "Reason": "None"}) +
		record(sep, map[string]string{"JobArrayID": "13_[1-3%1]", "ArrayJobID": "13", "ArrayTaskID": "1-3%1", "State": "PENDING", "NumNodes": "1", "NumTasks": "2",
			"tres-per-task": "gres/gpu:1", "StartTime": "N/A"})
	list, err := ParseQueue(text, sep)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	first, second := list[0], list[1]
	if first.Name != "a\nb|\x1b[31m" || first.Array != "" || first.Account != "" || first.Reason != "" || first.Devices["nvidia.com/gpu"] != 16 || first.Start != time.Unix(1795423275, 0).UTC() {
		t.Errorf("%+v", first)
	}
	if second.Array != "13" || second.Number() != "13" || second.Devices["nvidia.com/gpu"] != 2 || !second.Start.IsZero() {
		t.Errorf("%+v", second)
	}
	if _, err := ParseQueue("12"+sep+"x\n", sep); err == nil {
		t.Error("a record with too few fields was accepted")
	}
}

func TestParseHistory(t *testing.T) {
	const sep = "<x7>"
	row := func(id, name, state, exit string) string {
		values := map[string]string{"JobID": id, "JobName": name, "State": state, "ExitCode": exit, "AllocTRES": "billing=2,cpu=2,gres/gpu:h100=16,gres/gpu=16,node=2", "NNodes": "2", "Start": "Unknown"}
		var out []string
		for _, f := range historyFields {
			out = append(out, values[f.name])
		}
		return strings.Join(out, sep) + "\n"
	}
	list, err := ParseHistory(row("7", "a\nb", "CANCELLED by 1000", "0:15")+row("8_2", "c", "FAILED", "3:0"), sep)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if j := list[0]; j.Name != "a\nb" || j.Signal != 15 || j.Devices["nvidia.com/gpu"] != 16 || j.Active() {
		t.Errorf("%+v", j)
	}
	if j := list[1]; j.Array != "8" || j.Task != "2" || j.ExitCode != 3 {
		t.Errorf("%+v", j)
	}
}

func TestOutputFile(t *testing.T) {
	j := Job{ID: "13_4", Array: "13", Name: "bert", User: "ada", WorkDir: "/home/ada", NodeList: "gpu-1,gpu-2"}
	for pattern, want := range map[string]string{
		"%x-%j.out": "/home/ada/bert-13.out", "/a/%A_%3a.log": "/a/13_004.log", "%%%q": "/home/ada/%%q", "%u-%N": "/home/ada/ada-gpu-1", "a%": "/home/ada/a%", "": "",
	} {
		if got := j.OutputFile(pattern); got != want {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
}

func TestParseDetails(t *testing.T) {
	d := ParseDetails("JobId=2 JobName=a\n   StdOut=/fake\n   Requeue=1 BatchHost=gpu-1\n   StdErr=/x y/err\n   StdOut=/x y/out\n")
	if diff := cmp.Diff(Details{StdOut: "/x y/out", StdErr: "/x y/err", BatchHost: "gpu-1", Requeue: true}, d); diff != "" {
		t.Error(diff)
	}
}

func TestParseNodes(t *testing.T) {
	const sep = "<x>"
	row := func(v ...string) string { return strings.Join(v, sep) + sep + endOfRecord + "\n" }
	list, err := ParseNodes(row("gpu-1", "gpu-1", "drained*", "bad\nfan", "root", "1795423571", "dev", "a,b", "gpu:h100:8(S:0-1)")+
		row("gpu-1", "gpu-1", "drained*", "bad\nfan", "root", "1795423571", "small", "a,b", "gpu:h100:8")+
		row("gpu-2", "gpu-2", "fail", "Action:Replace", "root", "Unknown", "dev", "(null)", "(null)"), sep)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if n := list[0]; n.State != "drained" || len(n.Partitions) != 2 || n.Devices["nvidia.com/gpu"] != 8 || !n.Out() || n.Pending() != "" {
		t.Errorf("%+v", n)
	}
	if n := list[1]; n.Pending() != Replace || !n.Out() || !n.Since.IsZero() {
		t.Errorf("%+v", n)
	}
}

func TestHosts(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "gpu-1": "gpu-1", "gpu-[1-2,7],head": "gpu-1 gpu-2 gpu-7 head", "ip-10-1-[08-10]": "ip-10-1-08 ip-10-1-09 ip-10-1-10",
		"r[1-2]n[1-2]": "r1n1 r1n2 r2n1 r2n2", "a[": "a[", "a[x]": "",
	} {
		if got := strings.Join(Hosts(list), " "); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
	if n := len(Hosts("a[0-999999999]")); n != mostHosts {
		t.Errorf("%d hosts", n)
	}
}

func TestScriptOf(t *testing.T) {
	site := Site{Features: []string{"ml.p5.48xlarge"}, Devices: 8}
	for _, c := range []struct {
		name string
		v    values.Values
		want []string
		not  []string
	}{
		{"torchrun of two nodes meets at the first one", values.Values{Name: "a", EntryScript: "train.py", InstanceType: "p5.48xlarge", NodeCount: values.Int(2), AutoResume: true},
			[]string{"#SBATCH --constraint=ml.p5.48xlarge\n", "#SBATCH --gpus-per-node=8\n", "#SBATCH --exclusive\n", "HEAD_NODE=", "srun $AUTO_RESUME torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend=c10d"}, nil},
		{"a part of a node is not exclusive", values.Values{Name: "a", Command: "python", EntryScript: "x.py", InstanceType: "ml.p5.48xlarge", Accelerators: values.Int(2), Memory: "64Gi"},
			[]string{"#SBATCH --gpus-per-node=2\n", "#SBATCH --cpus-per-task=48\n", "#SBATCH --mem=65536M\n", "\nsrun python x.py\n"}, []string{"exclusive", "AUTO_RESUME"}},
		{"values are quoted", values.Values{Name: "a", Command: "echo", ScriptArgs: []string{"$(id)", "it's"}, Environment: map[string]string{"A": "x'; id #"}},
			[]string{`export A='x'\''; id #'`, `echo '$(id)' 'it'\''s'`}, nil},
		{"lines around the program run on every node", values.Values{Name: "a", Command: "date", PreScript: []string{"echo 'a'"}},
			[]string{"srun bash -c 'set -e\necho '\\''a'\\''\ndate'\n"}, nil},
	} {
		s, err := ScriptOf(c.v, site)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		text := s.Text()
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is missing in\n%s", c.name, w, text)
			}
		}
		for _, w := range c.not {
			if strings.Contains(text, w) {
				t.Errorf("%s: %q is in\n%s", c.name, w, text)
			}
		}
	}
	for code, v := range map[ProblemCode]values.Values{
		NotPlain:      {Name: "a\n#SBATCH --uid=0", Command: "x"},
		NoProgram:     {Name: "a"},
		UnknownType:   {Name: "a", Command: "x", InstanceType: "ml.p9.large"},
		NotQuantity:   {Name: "a", Command: "x", Memory: "much"},
		NotVariable:   {Name: "a", Command: "x", Environment: map[string]string{"A;id": "x"}},
		NotRendezvous: {Name: "a", EntryScript: "x", NodeCount: values.Int(2), Rendezvous: values.Rendezvous{Backend: "etcd"}},
	} {
		_, err := ScriptOf(v, site)
		if p, ok := err.(*Problem); !ok || p.Code != code {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestParseEstimate(t *testing.T) {
	e, ok := ParseEstimate("sbatch: Job 4 to start at 1795428453 using 1 processors on nodes gpu-[1,4] in partition dev\n")
	if want := (Estimate{Start: time.Unix(1795428453, 0).UTC(), Nodes: "gpu-[1,4]", Partition: "dev"}); !ok || e != want {
		t.Error(e, ok)
	}
	if _, ok := ParseEstimate("allocation failure: Requested node configuration is not available"); ok {
		t.Error("a refusal was read as an estimate")
	}
}

// FuzzParseQueue: no text makes the parsers fail otherwise than with an error.
func FuzzParseQueue(f *testing.F) {
	f.Add(record("<x>", map[string]string{"JobArrayID": "1_2", "tres-per-node": "gres:gpu:8,gres:", "NumNodes": "2-4", "exit_code": "-1"}))
	f.Add("gres/gpu:=1,gres")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseQueue(text, "<x>")
		if err == nil {
			for _, j := range list {
				j.Values()
				j.OutputFile(j.Comment + "%5")
				StateOf(j.State, j.Reason)
			}
		}
		_, _ = ParseHistory(text, "<x>")
		_, _ = ParseNodes(text, "<x>")
		ParseDetails(text)
		Hosts(text)
		addGres(map[string]int64{}, text, 1)
	})
}

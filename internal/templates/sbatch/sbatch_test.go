package sbatch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

func read(t *testing.T, text string) Script {
	t.Helper()
	s, err := Read("x.sbatch", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// example returns a script of testdata, which has the form of AWS's training examples.
func example(t testing.TB) string {
	data, err := os.ReadFile(filepath.Join("testdata", "fsdp.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadExample(t *testing.T) {
	v := read(t, example(t)).Values
	want := values.Values{Name: "llama-fsdp", NodeCount: values.Int(2), TasksPerNode: values.Int(8), Command: "torchrun", EntryScript: "./train.py",
		ScriptArgs: []string{"--max_steps=100", "--lr=0.1", "--name", "a b"}, Image: "nvcr.io/nvidia/pytorch:24.01", AutoResume: true,
		Environment: map[string]string{"NCCL_DEBUG": "INFO", "FI_PROVIDER": "efa"},
		PreScript:   []string{"set -ex;", "nvidia-smi -L", "GPUS_PER_NODE=8", "LR=0.1"}, PostScript: []string{"echo done"}}
	want.RunPolicy.Deadline = values.Int(36 * 3600)
	if diff := cmp.Diff(want, v); diff != "" {
		t.Error(diff)
	}
}

func TestReadHeader(t *testing.T) {
	s := read(t, `#!/bin/bash
#SBATCH -N 2 -J bert
#SBATCH --gres=gpu:h100:4 -c 12
#SBATCH --mem=64G -t 90
#SBATCH -p dev --account=team --qos=high
#SBATCH --export=ALL,A=1
#SBATCH -C ml.p5.48xlarge
srun python train.py --lr 1
#SBATCH --array=0-3
`)
	v := s.Values
	if v.Name != "bert" || *v.NodeCount != 2 || *v.Accelerators != 4 || v.VCPU != "12" || v.Memory != "64Gi" || *v.RunPolicy.Deadline != 5400 ||
		v.Environment["A"] != "1" || v.InstanceType != "ml.p5.48xlarge" || v.Command != "python" || v.EntryScript != "train.py" || s.Partition != "dev" || s.Account != "team" || s.QOS != "high" {
		t.Errorf("%+v", s)
	}
	single := read(t, "#!/bin/bash\n#SBATCH --gpus=1\npython a.py\nfor i in 1 2; do\n  echo $i\ndone\n").Values
	if single.Command != "bash -c" || single.EntryScript != "python a.py\nfor i in 1 2; do\n  echo $i\ndone" {
		t.Errorf("%+v", single)
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]int{"90": 5400, "10:30": 630, "2:00:00": 7200, "1-2": 93600, "1-2:30": 95400, "1-2:30:15": 95415} {
		s := read(t, "#!/bin/sh\n#SBATCH -t "+text+"\ntrue\n")
		if d := s.Values.RunPolicy.Deadline; d == nil || *d != want {
			t.Errorf("%s: %v", text, d)
		}
	}
}

// TestRefused: what cannot be expressed names its position and the reason.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"#SBATCH --array=0-9\nsrun a b\n", "line 2:9: --array cannot be expressed: a job has no array tasks"},
		{"#SBATCH --nodess=2\nsrun a b\n", `line 2:9: option --nodess=2 is not supported; did you mean "--nodes"`},
		{"#SBATCH --nodes=2-4\nsrun a b\n", `line 2:9: --nodes cannot be expressed: "2-4" is not a number of at least 1`},
		{"#SBATCH --nodes=2\npython a.py\n", "the script starts nothing with srun: Slurm runs it on the first of 2 nodes only"},
		{"#SBATCH --nodes=2\nsrun a b\n  srun c d\n", "line 4:3: a second step cannot be expressed: the first is in line 3"},
		{"#SBATCH --ntasks-per-node=8\nsrun python a.py\n", "line 3:1: srun starts 8 processes on each node"},
		{"#SBATCH -n 3 -N 2\nsrun a b\n", "3 tasks cannot be shared evenly by 2 nodes"},
		{"#SBATCH -N 1\nmodule load cuda\nsrun a b\n", "line 3:1: modules of the cluster are not in the image"},
		{"#SBATCH -N 1\necho $SLURM_JOB_ID\nsrun a b\n", "line 3:7: SLURM_JOB_ID exists only on Slurm"},
		{"#SBATCH -N 1\nnodes=$(scontrol show hostnames)\necho x $nodes\nsrun a b\n", "line 4:8: $nodes has a value of Slurm"},
		{"#SBATCH -N 1\nsrun python a.py --id $SLURM_JOB_ID\n", "line 3:23: $SLURM_JOB_ID has a value of Slurm"},
		{"#SBATCH -N 1\nX=$(date)\nsrun python a.py $X\n", "line 4:18: only the run of the script knows the value of $X"},
		{"#SBATCH -N 1\nfor i in 1 2; do\n  srun a b\ndone\n", "line 4:3: srun exists only on Slurm"},
		{"#SBATCH -N 1\nsrun python a.py > out.txt\n", `line 3:18: ">" after the program cannot be expressed`},
		{"#SBATCH -N 1\nsrun --multi-prog x.conf\n", "line 3:6: option --multi-prog of srun cannot be expressed"},
		{"#SBATCH -N 1\nsrun torchrun -m pkg.train\n", "option -m of torchrun cannot be expressed"},
		{"#SBATCH -N 1\ncat <<EOF\nsrun\nEOF\nsrun a b\n", "line 3:1: a here-document cannot be expressed"},
		{"#SBATCH -N 1\n", "the script starts no program"},
		{"#SBATCH -N 1\nA=(\nsrun a b\n", "line 3:1: a quote, a bracket or a block is not closed"},
		{"#SBATCH -N 1\nif true; then\nsrun a b\n", "line 3:1: a quote, a bracket or a block is not closed"},
		{"#SBATCH --mem=lots\nsrun a b\n", `"lots" is not a size such as 64G`},
	} {
		_, err := Read("x.sbatch", []byte("#!/bin/bash\n"+c.text))
		if err == nil || !strings.Contains(err.Error()+causes(err), c.want) {
			t.Errorf("%q:\n%v%s\nwant %s", c.text, err, causes(err), c.want)
		}
	}
}

func causes(err error) string {
	var b strings.Builder
	for _, e := range joined(err) {
		b.WriteString("\n" + e.Error())
	}
	return b.String()
}

func joined(err error) (out []error) {
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		if e := u.Unwrap(); e != nil {
			return joined(e)
		}
	case interface{ Unwrap() []error }:
		return u.Unwrap()
	}
	return []error{err}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{example(t): true, "#!/bin/bash\necho\n": false, "kind: Job\n#SBATCH --x\n": false, "": false} {
		if Is([]byte(text)) != want {
			t.Errorf("%.30q: %v", text, !want)
		}
	}
}

// FuzzRead: any text is read or refused, and a script that was read has a program.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.sbatch")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("#!/bin/sh\n#SBATCH -t 1-\nsrun a \"${B[@]}\" '${' `x` $( (\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Read("x", []byte(text))
		if err == nil && s.Values.Command == "" {
			t.Errorf("no program: %+v", s.Values)
		}
		if strings.Contains(strings.Join(s.Values.ScriptArgs, "")+s.Values.EntryScript+s.Values.Command, unknownText) {
			t.Errorf("a value that nobody knows is in %+v", s.Values)
		}
	})
}

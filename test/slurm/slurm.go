// Package slurm starts a Slurm cluster of Debian's packages on this machine: munged,
// slurmctld and four nodes with eight accelerators each, as root, on loopback. Jobs run
// as processes; nothing needs cgroups. With accounting, slurmdbd keeps finished jobs in a MariaDB
// that the cluster starts. Tests compare the product with it.
package slurm

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Nodes are the names of the nodes. Each has 16 CPUs and 8 GPUs; all are of the instance
// type ml.p5.48xlarge, as a feature.
var Nodes = []string{"gpu-1", "gpu-2", "gpu-3", "gpu-4"}

// programs are what the cluster consists of, and what a user types.
var programs = []string{"munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel", "sinfo", "sacct"}

// Missing says why no cluster can be started here; "" if it can.
func Missing() string {
	if os.Geteuid() != 0 {
		return "Slurm runs its nodes as root"
	}
	for _, name := range programs {
		if _, err := find(name); err != nil {
			return name + " is not installed (test/install-tools installs it)"
		}
	}
	return ""
}

// find looks in the folders of an administrator too.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return exec.LookPath(filepath.Join("/usr/sbin", name))
}

// Cluster is a running cluster.
type Cluster struct {
	dir  string
	runs []*process
	// accounting is what slurm.conf says about it, database starts what it needs, nil for none.
	accounting string
	database   func(context.Context) error
	environ    []string // of the daemons
}

// process is a daemon and how it ended.
type process struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{}
}

// Start starts a cluster and returns when all nodes are idle.
func Start(ctx context.Context) (*Cluster, error) {
	return begin(ctx, func(*Cluster) error { return nil })
}

// begin starts a cluster that prepare has changed.
func begin(ctx context.Context, prepare func(*Cluster) error) (*Cluster, error) {
	// A socket's path has at most 108 bytes, so it cannot be in a folder of the test's name.
	dir, err := os.MkdirTemp("", "slurm")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, accounting: "AccountingStorageType=accounting_storage/none"}
	if err := cmp.Or(prepare(c), c.start(ctx)); err != nil {
		err = errors.Join(err, c.logs())
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	if err := c.write(); err != nil {
		return err
	}
	socket := c.path("munge.sock")
	if err := c.run("munged", "--foreground", "--force", "--num-threads=2", "--key-file="+c.path("munge.key"), "--socket="+socket,
		"--pid-file="+c.path("munge.pid"), "--log-file="+c.path("munge.log"), "--seed-file="+c.path("munge.seed")); err != nil {
		return err
	}
	err := until(ctx, func() error { _, err := os.Stat(socket); return err })
	if err != nil {
		return err
	}
	if c.database != nil {
		if err := c.database(ctx); err != nil {
			return err
		}
	}
	if err := c.StartController(ctx); err != nil {
		return err
	}
	for _, name := range Nodes {
		if err := c.run("slurmd", "-D", "-N", name, "-f", c.Config()); err != nil {
			return err
		}
	}
	return until(ctx, func() error {
		out, err := c.Command(ctx, "sinfo", "-h", "-N", "-p", "dev", "-o", "%T").CombinedOutput()
		if err == nil && strings.Count(string(out), "idle\n") != len(Nodes) {
			err = fmt.Errorf("nodes are not idle: %q", out)
		}
		return err
	})
}

// StartController starts slurmctld, which a cluster already has unless StopController ended it.
func (c *Cluster) StartController(ctx context.Context) error {
	if err := c.run("slurmctld", "-D", "-f", c.Config()); err != nil {
		return err
	}
	if err := until(ctx, func() error { return c.Command(ctx, "scontrol", "ping").Run() }); err != nil || c.database == nil {
		return err
	}
	return c.registered(ctx)
}

// StopController ends slurmctld. Jobs and nodes go on.
func (c *Cluster) StopController() error {
	return c.end(func(p *process) bool { return p.name == "slurmctld" })
}

// Stop cancels the jobs, ends the daemons and removes their files.
func (c *Cluster) Stop() error {
	ctx, stop := context.WithTimeout(context.Background(), 15*time.Second)
	defer stop()
	if !c.has("slurmctld") && c.has("slurmd") {
		_ = c.StartController(ctx) // a test has ended it, and only it can end the jobs
	}
	if c.has("slurmctld") && c.Command(ctx, "scancel", "--user=root").Run() == nil {
		// The steps of a job are no children of this process: they end with the job.
		_ = until(ctx, func() error {
			out, err := c.Command(ctx, "squeue", "-h").Output()
			if err == nil && len(out) > 0 {
				err = errors.New("jobs are left")
			}
			return err
		})
	}
	return errors.Join(c.end(func(p *process) bool { return p.name != "munged" }), c.end(func(*process) bool { return true }), os.RemoveAll(c.dir))
}

// Config is the path of slurm.conf, the value of SLURM_CONF.
func (c *Cluster) Config() string { return c.path("slurm.conf") }

// Command is a command of Slurm on this cluster.
func (c *Cluster) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.Config())
	return cmd
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) has(name string) bool {
	for _, p := range c.runs {
		if p.name == name {
			return true
		}
	}
	return false
}

// run starts a daemon.
func (c *Cluster) run(name string, args ...string) error {
	path, err := find(name)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(c.path(name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = c.dir, log, log, append(os.Environ(), c.environ...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the test
	if err := cmd.Start(); err != nil {
		return err
	}
	p := &process{name: name, cmd: cmd, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	c.runs = append(c.runs, p)
	return nil
}

// end ends the daemons of a choice.
func (c *Cluster) end(chosen func(*process) bool) error {
	var left, ending []*process
	for _, p := range c.runs {
		if !chosen(p) {
			left = append(left, p)
			continue
		}
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		ending = append(ending, p)
	}
	c.runs = left
	for _, p := range ending {
		select {
		case <-p.ended:
		case <-time.After(3 * time.Second): // slurmd waits for a controller that has ended
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
	}
	return nil
}

// logs is an error with what the daemons wrote.
func (c *Cluster) logs() error {
	var b strings.Builder
	files, _ := filepath.Glob(c.path("*.out"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		fmt.Fprintf(&b, "%s:\n%s", filepath.Base(f), text)
	}
	return errors.New(b.String())
}

// until tries until it works, at most for 30 seconds.
func until(ctx context.Context, try func() error) error {
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
	}
}

// write writes the key and the configuration.
func (c *Cluster) write() error {
	key := make([]byte, 128)
	_, _ = rand.Read(key)
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	host, _, _ = strings.Cut(host, ".")
	ports, err := freePorts(len(Nodes) + 1)
	if err != nil {
		return err
	}
	for _, d := range append([]string{"state", "dev"}, Nodes...) {
		if err := os.Mkdir(c.path(d), 0o755); err != nil {
			return err
		}
	}
	var nodes strings.Builder
	for i, name := range Nodes {
		fmt.Fprintf(&nodes, "NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=16 Gres=gpu:h100:8 Feature=ml.p5.48xlarge RealMemory=64000\n", name, host, ports[i+1])
	}
	for i := range 8 {
		if err := os.WriteFile(c.path(fmt.Sprintf("dev/gpu%d", i)), nil, 0o600); err != nil {
			return err
		}
	}
	text := strings.NewReplacer("@DIR@", c.dir, "@HOST@", host, "@PORT@", fmt.Sprint(ports[0]), "@ACCOUNTING@", c.accounting, "@NODES@", nodes.String()).Replace(config)
	return errors.Join(os.Chmod(c.dir, 0o755), os.WriteFile(c.path("munge.key"), key, 0o600), os.WriteFile(c.path("slurm.conf"), []byte(text), 0o644),
		os.WriteFile(c.path("gres.conf"), []byte("NodeName=gpu-[1-4] Name=gpu Type=h100 File="+c.path("dev/gpu[0-7]")+"\n"), 0o644))
}

// config is slurm.conf. Each plugin is the one that needs the least of the machine.
// SlurmdParameters lets a node have more CPUs than the machine.
const config = `ClusterName=test
SlurmctldHost=@HOST@(127.0.0.1)
SlurmctldPort=@PORT@
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=@DIR@/munge.sock
CredType=cred/munge
SlurmctldPidFile=@DIR@/slurmctld.pid
SlurmdPidFile=@DIR@/%n.pid
StateSaveLocation=@DIR@/state
SlurmdSpoolDir=@DIR@/%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_min_interval=0,batch_sched_delay=0
@ACCOUNTING@
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
MailProg=/bin/true
ReturnToService=2
KillWait=1
MinJobAge=300
MessageTimeout=10
GresTypes=gpu
TreeWidth=64
SlurmdParameters=config_overrides
@NODES@PartitionName=dev Nodes=ALL Default=YES DefaultTime=01:00:00 MaxTime=2-00:00:00 State=UP
PartitionName=small Nodes=gpu-4 MaxTime=00:10:00 State=UP
`

// freePorts returns ports that nothing listens on.
func freePorts(n int) ([]int, error) {
	var out []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all at the end, so that they differ
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}

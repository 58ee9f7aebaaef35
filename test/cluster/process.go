package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// command describes a process of the bed.
type command struct {
	name string // also the name of its log
	path string // inside root, if there is one
	args []string
	env  []string
	root string // chroot; empty for none
	home *thread
}

// process is a running command.
type process struct {
	command
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed after err is set
	err  error
}

// start runs c with its output in a file of logs. The file is kept over restarts.
func start(c command, logs string) (*process, error) {
	path := filepath.Join(logs, c.name+".log")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot open the log of %s: %w", c.name, err)
	}
	defer out.Close()
	cmd := exec.Command(c.path, c.args...)
	cmd.Env = c.env
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = processAttributes(c.root)
	if err := c.home.do(cmd.Start); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", c.name, err)
	}
	p := &process{command: c, log: path, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// exited returns an error with the end of the log if the process has ended.
func (p *process) exited() error {
	select {
	case <-p.done:
		how := "ended"
		if p.err != nil {
			how = p.err.Error()
		}
		return fmt.Errorf("%s is down (%s); the end of its log:\n%s", p.name, how, p.tail())
	default:
		return nil
	}
}

// stop asks the process to end and kills it when it has not after grace.
func (p *process) stop(grace time.Duration) {
	if p == nil {
		return
	}
	if p.cmd.Process.Signal(syscall.SIGTERM) == nil {
		select {
		case <-p.done:
			return
		case <-time.After(grace):
		}
	}
	if err := p.cmd.Process.Kill(); err == nil || errors.Is(err, os.ErrProcessDone) {
		<-p.done
	}
}

// waitReady polls probe until it succeeds, the process ends or ctx does.
func (p *process) waitReady(ctx context.Context, probe func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := probe(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.exited()
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (last answer: %w); the end of its log:\n%s", p.name, context.Cause(ctx), err, p.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tail is the end of the process's log.
func (p *process) tail() string {
	f, err := os.Open(p.log)
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	defer f.Close()
	const size = 16 << 10
	if info, err := f.Stat(); err == nil && info.Size() > size {
		if _, err := f.Seek(-size, io.SeekEnd); err != nil {
			return "(no log: " + err.Error() + ")"
		}
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	return lastLines(text, 25)
}

func lastLines(text []byte, n int) string {
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return string(bytes.Join(lines, []byte("\n")))
}

// freePorts finds n loopback ports nobody listens on. Another program may still take one before
// it is used; the process that wanted it then ends with a clear log.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("no free port: %w", err)
		}
		defer l.Close() // only at the end, so that the ports differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// ownAddress is an address of this machine that EndpointSlices accept: not loopback, not link-local.
func ownAddress() (net.IP, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("cannot read this machine's addresses: %w", err)
	}
	var found net.IP
	for _, a := range addresses {
		ipNet, ok := a.(*net.IPNet)
		if !ok || !ipNet.IP.IsGlobalUnicast() {
			continue
		}
		if v4 := ipNet.IP.To4(); v4 != nil {
			return v4, nil
		}
		if found == nil {
			found = ipNet.IP
		}
	}
	if found == nil {
		return nil, errors.New("the test cluster needs a network address besides loopback for its webhooks; bring an interface up")
	}
	return found, nil
}

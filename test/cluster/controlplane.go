package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"time"
)

// podCIDR has room for as many fake pods as a bench makes.
const podCIDR = "10.128.0.1/12"

// ports are the loopback ports of one bed, free when it started.
type ports struct {
	etcd, etcdPeer, api, controllerManager, scheduler, kwok int
}

func newPorts() (ports, error) {
	p, err := freePorts(6)
	if err != nil {
		return ports{}, err
	}
	return ports{p[0], p[1], p[2], p[3], p[4], p[5]}, nil
}

// probeClient asks health endpoints whose certificates the servers sign themselves.
var probeClient = &http.Client{Transport: &http.Transport{
	TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // loopback health checks only
	DisableKeepAlives: true,
}}

func healthy(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(io.LimitReader(resp.Body, 2000)) // only makes the message better
			return fmt.Errorf("%s: %s: %s", url, resp.Status, text)
		}
		return nil
	}
}

func (b *Bed) startEtcd(ctx context.Context) error {
	client := fmt.Sprintf("http://127.0.0.1:%d", b.ports.etcd)
	peer := fmt.Sprintf("http://127.0.0.1:%d", b.ports.etcdPeer)
	p, err := b.spawn(command{name: "etcd", path: b.binaries.Etcd, home: b.host, args: []string{
		"--data-dir=" + filepath.Join(b.dir, "etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		"--unsafe-no-fsync", // the state need not survive the machine
		"--quota-backend-bytes=4294967296", "--log-level=warn",
	}})
	if err != nil {
		return err
	}
	return p.waitReady(ctx, healthy(probeClient, client+"/health"))
}

func (b *Bed) startAPIServer(ctx context.Context) error {
	file := b.pki.path
	p, err := b.spawn(command{name: "kube-apiserver", path: b.binaries.APIServer, home: b.host, args: append([]string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", b.ports.etcd),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", b.ports.api),
		// The kubernetes Service needs no endpoint: pods are fakes, operators are told the address.
		"--endpoint-reconciler-type=none", "--advertise-address=" + b.address.String(),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--tls-cert-file=" + file("apiserver.crt"), "--tls-private-key-file=" + file("apiserver.key"),
		"--client-ca-file=" + file("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + file("tokens.key"), "--service-account-signing-key-file=" + file("tokens.key"),
		"--authorization-mode=RBAC",
		"--requestheader-client-ca-file=" + file("front-proxy-ca.crt"), "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + file("front-proxy.crt"), "--proxy-client-key-file=" + file("front-proxy.key"),
		// Resolves Services to their endpoints without kube-proxy.
		"--enable-aggregator-routing=true",
		"--kubelet-certificate-authority=" + file("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate=" + file("admin.crt"), "--kubelet-client-key=" + file("admin.key"),
		"--allow-privileged=true",
	}, b.options.APIServerArgs...)})
	if err != nil {
		return err
	}
	return p.waitReady(ctx, func(ctx context.Context) error { return b.Get(ctx, "/readyz", nil) })
}

// StopAPIServer ends the API server, so that clients can be tested against a cluster that is down.
func (b *Bed) StopAPIServer() {
	b.setAPIDown(true)
	b.take("kube-apiserver").stop(time.Second) // it would wait a minute for watches to end
	b.client.CloseIdleConnections()
}

// StartAPIServer starts the API server after StopAPIServer, on the same port, and waits until it is
// ready. Like a kubelet it then restarts the operators that gave up in between.
func (b *Bed) StartAPIServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready within %s", startTimeout))
	defer cancel()
	if err := b.startAPIServer(ctx); err != nil {
		return err
	}
	if err := b.settleLeases(ctx, time.Now()); err != nil {
		return err
	}
	for _, gone := range b.ended() {
		for _, o := range b.operators {
			if o.name != gone.name {
				continue
			}
			// Its own old lease would keep the new process waiting until it runs out.
			if o.leaseName != "" {
				if _, err := b.Request(ctx, http.MethodDelete, o.lease(), "", nil); err != nil && !NotFound(err) {
					return err
				}
			}
			p, err := b.spawn(gone.command)
			if err != nil {
				return err
			}
			if err := b.waitOperator(ctx, o, p, gone.home); err != nil {
				return err
			}
		}
	}
	b.setAPIDown(false)
	return nil
}

// settleLeases waits until each operator with a lease has renewed it since, or has ended: an
// operator that missed its deadline may still be about to.
func (b *Bed) settleLeases(ctx context.Context, since time.Time) error {
	for _, o := range b.operators {
		if o.leaseName == "" {
			continue
		}
		p := b.find(o.name)
		err := b.poll(ctx, o.name+" to renew its lease or end", func(ctx context.Context) error {
			if p == nil || p.exited() != nil {
				return nil
			}
			var lease Object
			if err := b.Get(ctx, o.lease(), &lease); err != nil {
				return err
			}
			renewed, err := time.Parse(time.RFC3339Nano, field(lease, "spec", "renewTime"))
			if err == nil && renewed.Before(since) {
				err = fmt.Errorf("renewed at %s", renewed)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Bed) setAPIDown(down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.apiDown = down
}

// startControllers starts the controller-manager and, but for a bed of Kueue only, the scheduler, without waiting.
func (b *Bed) startControllers() (controllerManager, scheduler *process, err error) {
	as := func(user string) (string, error) {
		p, err := b.pki.ca.client(user)
		if err != nil {
			return "", err
		}
		return b.writeKubeconfig(user[len("system:"):], "", p)
	}
	kcmConfig, err := as("system:kube-controller-manager")
	if err != nil {
		return nil, nil, err
	}
	controllerManager, err = b.spawn(command{name: "kube-controller-manager", path: b.binaries.ControllerManager, home: b.host, args: []string{
		"--kubeconfig=" + kcmConfig, "--authentication-kubeconfig=" + kcmConfig, "--authorization-kubeconfig=" + kcmConfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", b.ports.controllerManager),
		"--cert-dir=" + filepath.Join(b.dir, "kube-controller-manager"),
		"--leader-elect=false", "--use-service-account-credentials=true",
		"--root-ca-file=" + b.pki.path("ca.crt"),
		"--controllers=*,-node-ipam-controller,-node-route-controller,-service-lb-controller",
		"--kube-api-qps=200", "--kube-api-burst=400",
		"--node-monitor-grace-period=1h", // on a busy machine the leases of nodes are renewed late, and Kueue replaces nodes that are not ready
	}})
	if err != nil || b.options.KueueOnly {
		return controllerManager, nil, err
	}
	schedulerConfig, err := as("system:kube-scheduler")
	if err != nil {
		return nil, nil, err
	}
	scheduler, err = b.spawn(command{name: "kube-scheduler", path: b.binaries.Scheduler, home: b.host, args: []string{
		"--kubeconfig=" + schedulerConfig, "--authentication-kubeconfig=" + schedulerConfig, "--authorization-kubeconfig=" + schedulerConfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", b.ports.scheduler),
		"--cert-dir=" + filepath.Join(b.dir, "kube-scheduler"),
		"--leader-elect=false", "--kube-api-qps=200", "--kube-api-burst=400",
	}})
	return controllerManager, scheduler, err
}

// startKWOK starts the stand-in for all kubelets, without waiting.
func (b *Bed) startKWOK() (*process, error) {
	dir := filepath.Join(b.dir, "kwok")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the folder of kwok: %w", err)
	}
	b.PodLog = filepath.Join(dir, "pod.log")
	config := fmt.Sprintf(`apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  enableDebuggingHandlers: true
  # KWOK v0.8.0 reads a file that does not name these as zero, and then refuses to start.
  nodeLeaseParallelism: 4
  nodePlayStageParallelism: 4
  podPlayStageParallelism: 4
  podsOnNodeSyncParallelism: 1
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterLogs
metadata:
  name: logs
spec:
  logs:
  - logsFile: %q
    follow: true
---
# Port 7 echoes, as the service of that port does; nothing serves port 9.
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterPortForward
metadata:
  name: forward
spec:
  forwards:
  - ports: [7]
    command: [cat]
  - ports: [9]
    target: {address: 127.0.0.1, port: 9}
---
%s---
%s`, b.PodLog, kwokExec(), kwokStages)
	configFile := filepath.Join(dir, "kwok.yaml")
	// KWOK wants the format of container runtimes: time, stream, F for a full line, text.
	line := time.Now().UTC().Format(time.RFC3339Nano) + " stdout F a line of a fake pod\n"
	for path, text := range map[string]string{configFile: config, b.PodLog: line} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, fmt.Errorf("cannot write the configuration of kwok: %w", err)
		}
	}
	return b.spawn(command{name: "kwok", path: b.binaries.KWOK, home: b.host, env: []string{lessGC, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}, args: []string{
		"--config=" + configFile, "--kubeconfig=" + b.Kubeconfig,
		"--manage-all-nodes=true", "--cidr=" + podCIDR, "--node-lease-duration-seconds=40",
		"--node-ip=127.0.0.1", fmt.Sprintf("--node-port=%d", b.ports.kwok),
		fmt.Sprintf("--server-address=127.0.0.1:%d", b.ports.kwok),
		"--tls-cert-file=" + b.pki.path("kubelet.crt"), "--tls-private-key-file=" + b.pki.path("kubelet.key"),
	}})
}

// kwokExec lets kubectl exec run commands on this machine, as the user nobody. Without such a user
// there is no exec: it would run as root.
func kwokExec() string {
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return ""
	}
	return fmt.Sprintf(`apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterExec
metadata:
  name: exec
spec:
  execs:
  - local:
      workDir: /
      securityContext:
        runAsUser: %s
        runAsGroup: %s
`, nobody.Uid, nobody.Gid)
}

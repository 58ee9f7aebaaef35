package cluster

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// operator is a controller that runs as it would in its pod: in a chroot with its ServiceAccount's
// token, in a network namespace of its own, as an ordinary user. The shipped RBAC authorises it.
type operator struct {
	name           string
	component      Component
	binary         string
	namespace      string
	serviceAccount string
	args           []string
	env            []string
	files          map[string][]byte
	health         string // URL inside the namespace

	// For operators with webhooks: the Service in front, the Secret and the authority's name they expect.
	service, secret, authority string
	exposed                    []endpoint
	leaseName                  string                  // if the operator only works after it has taken this lease
	local                      map[string]http.Handler // served at these addresses of its own loopback
}

// endpoint is a port of an operator behind a Service of its namespace.
type endpoint struct {
	service, portName string
	port              int
}

func (o operator) lease() string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + o.namespace + "/leases/" + o.leaseName
}

// apiPort is where an operator finds the API server on its own loopback.
const apiPort = 6443

func (b *Bed) kueue(config []byte) operator {
	o := operator{
		name: "kueue", component: Kueue, binary: b.binaries.Kueue,
		namespace: "kueue-system", serviceAccount: "kueue-controller-manager",
		args:    []string{"--config=/controller_manager_config.yaml", "--zap-log-level=2"},
		files:   map[string][]byte{"controller_manager_config.yaml": config},
		health:  "http://127.0.0.1:8081/readyz",
		service: "kueue-webhook-service", secret: "kueue-webhook-server-cert", authority: "kueue-ca",
		exposed: []endpoint{{"kueue-webhook-service", "", 9443}, {"kueue-visibility-server", "https", 8082}},
	}
	if b.options.Kueue == KueueV1beta1 {
		o.component, o.binary = KueueOld, b.binaries.KueueV1beta1
	}
	if all := b.options.gates(); len(all) > 0 {
		var gates []string
		for name, on := range all {
			gates = append(gates, name+"="+strconv.FormatBool(on))
		}
		slices.Sort(gates)
		o.args = append(o.args, "--feature-gates="+strings.Join(gates, ","))
	}
	return o
}

func (b *Bed) trainingOperator() operator {
	o := operator{
		name: "training-operator", component: TrainingOperator, binary: b.binaries.TrainingOperator,
		namespace: "kubeflow", serviceAccount: "training-operator",
		env:     []string{"MY_POD_NAMESPACE=kubeflow", "MY_POD_NAME=training-operator"},
		health:  "http://127.0.0.1:8081/readyz",
		service: "training-operator", secret: "training-operator-webhook-cert", authority: "training-operator-ca",
		exposed: []endpoint{{"training-operator", "webhook-server", 9443}},
	}
	// All it knows but MPIJob: it ends itself when the old version of that kind is not served.
	for _, kind := range []string{"pytorchjob", "tfjob", "xgboostjob", "paddlejob", "jaxjob"} {
		o.args = append(o.args, "--enable-scheme="+kind)
	}
	t := b.options.TrainingOperator
	if t.Threads > 0 {
		o.args = append(o.args, fmt.Sprintf("--controller-threads=%d", t.Threads))
	}
	if t.QPS > 0 {
		o.args = append(o.args, fmt.Sprintf("--kube-api-qps=%d", t.QPS), fmt.Sprintf("--kube-api-burst=%d", 2*t.QPS))
	}
	return o
}

func (b *Bed) mpiOperator() operator {
	o := operator{
		name: "mpi-operator", component: MPIOperator, binary: b.binaries.MPIOperator,
		namespace: "mpi-operator", serviceAccount: "mpi-operator",
		args:   []string{"-alsologtostderr", "--lock-namespace=mpi-operator"},
		health: "http://127.0.0.1:8080/healthz", leaseName: "mpi-operator",
	}
	t := b.options.MPIOperator
	if t.Threads > 0 {
		o.args = append(o.args, fmt.Sprintf("--threadiness=%d", t.Threads))
	}
	if t.QPS > 0 {
		o.args = append(o.args, fmt.Sprintf("--kube-api-qps=%d", t.QPS), fmt.Sprintf("--kube-api-burst=%d", 2*t.QPS))
	}
	return o
}

// objects are what the operator's Services and webhooks need: its Secret and its endpoints.
// It also opens the listeners on the machine's own address; each gets a free port.
func (b *Bed) operatorObjects(o *operator, home *thread) ([]Object, error) {
	var objects []Object
	if o.secret != "" {
		data, err := webhookCertificates(o)
		if err != nil {
			return nil, err
		}
		encoded := Object{}
		for name, text := range data {
			encoded[name] = base64.StdEncoding.EncodeToString(text)
			if o.files == nil {
				o.files = map[string][]byte{}
			}
			o.files["tmp/k8s-webhook-server/serving-certs/"+name] = text
		}
		objects = append(objects, Object{"apiVersion": "v1", "kind": "Secret", "metadata": Object{"name": o.secret, "namespace": o.namespace}, "data": encoded})
	}
	for _, e := range o.exposed {
		l, err := net.Listen("tcp", net.JoinHostPort(b.address.String(), "0"))
		if err != nil {
			return nil, fmt.Errorf("cannot listen for %s: %w", e.service, err)
		}
		b.closers = append(b.closers, l)
		go relay(l, home.dial, fmt.Sprintf("127.0.0.1:%d", e.port))
		objects = append(objects, b.endpointSlice(o.namespace, e, l.Addr().(*net.TCPAddr).Port))
	}
	return objects, nil
}

func (b *Bed) endpointSlice(namespace string, e endpoint, port int) Object {
	family := "IPv4"
	if b.address.To4() == nil {
		family = "IPv6"
	}
	return Object{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
		"metadata":    Object{"name": e.service, "namespace": namespace, "labels": Object{"kubernetes.io/service-name": e.service}},
		"addressType": family,
		"endpoints":   []any{Object{"addresses": []any{b.address.String()}, "conditions": Object{"ready": true}}},
		"ports":       []any{Object{"name": e.portName, "port": port, "protocol": "TCP"}},
	}
}

func webhookCertificates(o *operator) (map[string][]byte, error) {
	ca, caKey, err := newOperatorAuthority(o.authority)
	if err != nil {
		return nil, err
	}
	name := o.service + "." + o.namespace + ".svc"
	serving, err := ca.server(name, []string{name})
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"ca.crt": ca.pem, "ca.key": caKey, "tls.crt": serving.cert, "tls.key": serving.key}, nil
}

// startOperator makes the chroot and starts the process, without waiting.
func (b *Bed) startOperator(ctx context.Context, o operator, home *thread) (*process, error) {
	token, err := b.serviceAccountToken(ctx, o.namespace, o.serviceAccount)
	if err != nil {
		return nil, fmt.Errorf("no token for %s: %w", o.name, err)
	}
	root := filepath.Join(b.dir, "root", o.name)
	account := "var/run/secrets/kubernetes.io/serviceaccount/"
	files := map[string][]byte{
		account + "token": []byte(token), account + "ca.crt": b.CA, account + "namespace": []byte(o.namespace),
		"etc/hosts": []byte("127.0.0.1 localhost\n"),
	}
	for name, text := range o.files {
		files[name] = text
	}
	if err := makeRoot(root, o.binary, files); err != nil {
		return nil, fmt.Errorf("cannot make the root folder of %s: %w", o.name, err)
	}
	l, err := home.listen(fmt.Sprintf("127.0.0.1:%d", apiPort))
	if err != nil {
		return nil, fmt.Errorf("cannot offer the API server to %s: %w", o.name, err)
	}
	b.closers = append(b.closers, l)
	var d net.Dialer
	outside := func(ctx context.Context, address string) (net.Conn, error) { return d.DialContext(ctx, "tcp", address) }
	go relay(l, outside, fmt.Sprintf("127.0.0.1:%d", b.ports.api))
	for _, other := range b.options.Reaches {
		address := fmt.Sprintf("127.0.0.1:%d", other.ports.api)
		l, err := home.listen(address)
		if err != nil {
			return nil, fmt.Errorf("cannot offer another API server to %s: %w", o.name, err)
		}
		b.closers = append(b.closers, l)
		go relay(l, outside, address)
	}
	for address, handler := range o.local {
		l, err := home.listen(address)
		if err != nil {
			return nil, fmt.Errorf("cannot serve %s to %s: %w", address, o.name, err)
		}
		b.closers = append(b.closers, l)
		go http.Serve(l, handler) // ends with its listener
	}
	env := append([]string{lessGC, "KUBERNETES_SERVICE_HOST=127.0.0.1", fmt.Sprintf("KUBERNETES_SERVICE_PORT=%d", apiPort), "HOME=/", "TMPDIR=/tmp"}, o.env...)
	return b.spawn(command{name: o.name, path: "/" + filepath.Base(o.binary), args: o.args, env: env, root: root, home: home})
}

// waitOperator waits until the operator says that it is ready.
func (b *Bed) waitOperator(ctx context.Context, o operator, p *process, home *thread) error {
	client := &http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, address string) (net.Conn, error) { return home.dial(ctx, address) },
		DisableKeepAlives: true,
	}}
	return p.waitReady(ctx, func(ctx context.Context) error {
		if err := healthy(client, o.health)(ctx); err != nil || o.leaseName == "" {
			return err
		}
		var lease Object
		if err := b.Get(ctx, o.lease(), &lease); err != nil {
			return err
		}
		if field(lease, "spec", "holderIdentity") == "" {
			return errors.New("it does not lead yet")
		}
		return nil
	})
}

func (b *Bed) serviceAccountToken(ctx context.Context, namespace, name string) (string, error) {
	var answer struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	request := Object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": Object{"expirationSeconds": 7 * 24 * 3600}}
	err := b.post(ctx, "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+name+"/token", request, &answer)
	return answer.Status.Token, err
}

// makeRoot lays out a chroot: the binary, the files, and the folders operators write to.
func makeRoot(root, binary string, files map[string][]byte) error {
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"tmp", "visibility"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := os.Chown(path, operatorUser, operatorUser); err != nil {
			return err
		}
	}
	target := filepath.Join(root, filepath.Base(binary))
	if err := os.Link(binary, target); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	// Links do not cross file systems.
	return copyFile(binary, target)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// StatusError is an answer of the API server that is not a success.
type StatusError struct {
	Code    int
	Message string
}

func (e *StatusError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// NotFound says whether err is the API server's "no such object".
func NotFound(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == http.StatusNotFound
}

// newClient makes an HTTP client that knows the bed's authority and signs in with p.
func newClient(ca []byte, p pair) (*http.Client, error) {
	cert, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		return nil, fmt.Errorf("cannot use the admin certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     time.Minute,
	}}, nil
}

// Request sends a request as cluster administrator and returns the body. path is absolute, for
// example /apis/kueue.x-k8s.io/v1beta2/clusterqueues. An answer other than 2xx is a *StatusError.
func (b *Bed) Request(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, b.Server+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("bad request for %s: %w", path, err)
	}
	req.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode >= 300 {
		var status struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(text, &status) != nil || status.Message == "" {
			status.Message = string(text)
		}
		return text, fmt.Errorf("%s %s: %w", method, path, &StatusError{resp.StatusCode, status.Message})
	}
	return text, nil
}

// Get reads path into the JSON value into, which may be nil.
func (b *Bed) Get(ctx context.Context, path string, into any) error {
	text, err := b.Request(ctx, http.MethodGet, path, "", nil)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("GET %s: the answer is not what was expected: %w", path, err)
	}
	return nil
}

// post creates object at path and reads the answer into the JSON value into, which may be nil.
func (b *Bed) post(ctx context.Context, path string, object, into any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("cannot encode an object for %s: %w", path, err)
	}
	text, err := b.Request(ctx, http.MethodPost, path, "application/json", body)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// writeKubeconfig makes a kubeconfig file for a user with the certificate p.
func (b *Bed) writeKubeconfig(name, namespace string, p pair) (string, error) {
	encode := base64.StdEncoding.EncodeToString
	var text strings.Builder
	fmt.Fprintf(&text, "apiVersion: v1\nkind: Config\ncurrent-context: %[1]s\n", name)
	fmt.Fprintf(&text, "clusters:\n- name: testbed\n  cluster:\n    server: %s\n    certificate-authority-data: %s\n", b.Server, encode(b.CA))
	fmt.Fprintf(&text, "users:\n- name: %s\n  user:\n    client-certificate-data: %s\n    client-key-data: %s\n", name, encode(p.cert), encode(p.key))
	fmt.Fprintf(&text, "contexts:\n- name: %[1]s\n  context:\n    cluster: testbed\n    user: %[1]s\n", name)
	if namespace != "" {
		fmt.Fprintf(&text, "    namespace: %s\n", namespace)
	}
	path := filepath.Join(b.dir, name+".kubeconfig")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return "", fmt.Errorf("cannot write the kubeconfig of %s: %w", name, err)
	}
	return path, nil
}

package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority is a certificate authority that lives as long as the bed.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  []byte
}

// pair is a certificate with its key, both PEM.
type pair struct{ cert, key []byte }

// certLife is long because cert-controller replaces certificates that end within 90 days.
const certLife = 3 * 365 * 24 * time.Hour

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot make the key of %s: %w", name, err)
	}
	return authorityWithKey(name, key)
}

// newOperatorAuthority makes an authority that the operators' cert-controller accepts as its own:
// it silently replaces the certificates unless the key is RSA (stored as PKCS#1) and the
// certificate has its own name among the DNS names.
func newOperatorAuthority(name string) (*authority, []byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make the key of %s: %w", name, err)
	}
	ca, err := authorityWithKey(name, key)
	if err != nil {
		return nil, nil, err
	}
	return ca, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), nil
}

func authorityWithKey(name string, key crypto.Signer) (*authority, error) {
	template := certTemplate(name)
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.DNSNames = []string{name}
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("cannot make the authority %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("cannot read the authority %s back: %w", name, err)
	}
	return &authority{cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// server makes a serving certificate for the names and addresses.
func (a *authority) server(name string, names []string, addresses ...net.IP) (pair, error) {
	template := certTemplate(name)
	template.DNSNames, template.IPAddresses = names, addresses
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	return a.sign(template)
}

// client makes a client certificate: Kubernetes takes the common name for the user and the organizations for groups.
func (a *authority) client(user string, groups ...string) (pair, error) {
	template := certTemplate(user)
	template.Subject.Organization = groups
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.sign(template)
}

func (a *authority) sign(template *x509.Certificate) (pair, error) {
	name := template.Subject.CommonName
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("cannot make a key for %s: %w", name, err)
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("cannot sign a certificate for %s: %w", name, err)
	}
	keyPEM, err := encodeKey(key)
	return pair{cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key: keyPEM}, err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func certTemplate(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // crypto/rand does not fail on supported systems
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(certLife),
	}
}

// write puts the pair into dir as name.crt and name.key.
func (p pair) write(dir, name string) error {
	if err := os.WriteFile(filepath.Join(dir, name+".crt"), p.cert, 0o644); err != nil {
		return fmt.Errorf("cannot write a certificate of the bed: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".key"), p.key, 0o600); err != nil {
		return fmt.Errorf("cannot write a key of the bed: %w", err)
	}
	return nil
}

// pki is the set of authorities and key files of one bed.
type pki struct {
	dir            string
	ca, frontProxy *authority
}

// newPKI writes everything that the control plane reads from files.
func newPKI(dir string) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder for certificates: %w", err)
	}
	p := &pki{dir: dir}
	var err error
	if p.ca, err = newAuthority("testbed-ca"); err != nil {
		return nil, err
	}
	if p.frontProxy, err = newAuthority("testbed-front-proxy-ca"); err != nil {
		return nil, err
	}
	signing, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot make the key that signs tokens: %w", err)
	}
	signingPEM, err := encodeKey(signing)
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"ca.crt": p.ca.pem, "front-proxy-ca.crt": p.frontProxy.pem, "tokens.key": signingPEM} {
		if err := os.WriteFile(p.path(name), text, 0o600); err != nil {
			return nil, fmt.Errorf("cannot write %s of the bed: %w", name, err)
		}
	}
	loopback := net.IPv4(127, 0, 0, 1)
	api, err := p.ca.server("kube-apiserver", []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}, loopback, net.IPv4(10, 96, 0, 1))
	if err != nil {
		return nil, err
	}
	kubelet, err := p.ca.server("kwok", []string{"localhost"}, loopback)
	if err != nil {
		return nil, err
	}
	proxy, err := p.frontProxy.client("front-proxy-client")
	if err != nil {
		return nil, err
	}
	return p, firstError(api.write(dir, "apiserver"), kubelet.write(dir, "kubelet"), proxy.write(dir, "front-proxy"))
}

func (p *pki) path(name string) string { return filepath.Join(p.dir, name) }

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

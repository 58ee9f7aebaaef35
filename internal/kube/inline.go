package kube

import (
	"errors"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// FromKubeconfig returns the configuration of the current context of a kubeconfig that comes from a cluster and not from the
// user. As Kueue does for its workers (validateKubeconfig in multikueuecluster.go), it takes a server with TLS and a token or
// certificate in the text itself: no program, no file of this machine, no password. Errors quote nothing of the text.
func FromKubeconfig(data []byte) (*rest.Config, error) {
	raw, err := clientcmd.Load(data)
	if err != nil {
		return nil, errors.New("it is not a valid kubeconfig")
	}
	for _, u := range raw.AuthInfos {
		switch {
		case u.Exec != nil || u.AuthProvider != nil:
			return nil, errors.New("it runs a program for credentials")
		case u.TokenFile != "" || u.ClientCertificate != "" || u.ClientKey != "":
			return nil, errors.New("it names files")
		case u.Username != "" || u.Password != "":
			return nil, errors.New("it has a password")
		}
	}
	for _, c := range raw.Clusters {
		server, err := url.Parse(c.Server)
		switch {
		case err != nil || server.Scheme != "https" || server.Host == "" || c.InsecureSkipTLSVerify:
			return nil, errors.New("it does not verify the certificate of the server")
		case c.CertificateAuthority != "":
			return nil, errors.New("it names files")
		case c.ProxyURL != "":
			return nil, errors.New("it names a proxy")
		}
	}
	cfg, err := clientcmd.NewDefaultClientConfig(*raw, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, errors.New("it has no usable context")
	}
	cfg.QPS = -1
	return cfg, nil
}

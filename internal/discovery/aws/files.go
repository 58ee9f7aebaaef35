package aws

import (
	"os"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// checkFiles refuses files that the SDK would read without a limit, and without a way to interrupt it: its own, those
// that the environment names, and the certificates.
func checkFiles() error {
	env, err := config.NewEnvConfig()
	if err != nil {
		return nil //nolint:nilerr // the SDK reads it again, and its error is explained
	}
	for _, f := range []struct {
		variable, path string
		most           int64
	}{
		{"AWS_CONFIG_FILE", orDefault(env.SharedConfigFile, config.DefaultSharedConfigFilename), bounded.Settings},
		{"AWS_SHARED_CREDENTIALS_FILE", orDefault(env.SharedCredentialsFile, config.DefaultSharedCredentialsFilename), bounded.Settings},
		{"AWS_CA_BUNDLE", env.CustomCABundle, bounded.Kubeconfig},
		{"AWS_WEB_IDENTITY_TOKEN_FILE", env.WebIdentityTokenFilePath, bounded.Settings},
	} {
		info, err := os.Stat(f.path)
		if f.path == "" || err != nil || f.path == os.DevNull {
			continue
		}
		why := ""
		switch {
		case info.Mode()&os.ModeDevice != 0:
			why = "it is a device"
		case info.Size() > f.most:
			why = (&bounded.TooLarge{Most: f.most}).Error()
		}
		if why != "" {
			return errs.New("cannot read the AWS configuration", why).WithFact("file", f.path).WithFact("from", f.variable)
		}
	}
	return nil
}

func orDefault(path string, otherwise func() string) string {
	if path == "" {
		return otherwise()
	}
	return path
}

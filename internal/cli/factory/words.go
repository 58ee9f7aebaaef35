package factory

import "github.com/hyperpod-cli/hyperpod/internal/words"

// ClusterArgs are the flags of this run that name its cluster, so that a suggested
// command works on the same one. The environment holds for that command, too; a
// snapshot takes no commands.
func (f *Factory) ClusterArgs() (out []string) {
	for _, flag := range [][2]string{{"sandbox", f.Global.Sandbox}, {"context", f.Global.Context}, {"kubeconfig", f.Global.Kubeconfig}} {
		switch {
		case flag[1] == "" || f.Global.Snapshot != "":
		case flag[0] == "sandbox" && flag[1] == DefaultSandbox:
			out = append(out, "--sandbox")
		default:
			out = append(out, "--"+flag[0]+"="+flag[1])
		}
	}
	return out
}

// ClusterFlags are ClusterArgs quoted for a shell, with a space before each.
func (f *Factory) ClusterFlags() string {
	line := words.ShellWords(f.ClusterArgs())
	if line == "" {
		return ""
	}
	return " " + line
}

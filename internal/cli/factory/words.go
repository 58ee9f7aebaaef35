package factory

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// ClusterArgs returns the flags of this run that name its cluster, so that a suggested
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

// RunArgs returns the flags with which another run of this program reads the same cluster in the same way.
func (f *Factory) RunArgs() []string {
	out := append(f.ClusterArgs(), "--request-timeout="+f.Global.Timeout.String())
	if f.Global.Snapshot != "" {
		out = append(out, "--snapshot="+f.Global.Snapshot)
	}
	if f.Global.MaxAge > 0 {
		out = append(out, "--max-age="+f.Global.MaxAge.String())
	}
	if f.Global.Scheduler != "" {
		out = append(out, "--scheduler="+f.Global.Scheduler)
	}
	return out
}

// Line writes a suggestion as a line for the cluster of this run.
func (f *Factory) Line(s errs.Suggestion) string {
	if s.Kind == errs.RunCommand {
		s = s.WithArgs(f.ClusterArgs()...)
		s.Program = f.Program
	}
	f.suggested(s)
	return s.String()
}

func (f *Factory) suggested(s errs.Suggestion) {
	if f.Suggested != nil {
		f.Suggested(s)
	}
}

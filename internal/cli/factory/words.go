package factory

import "strings"

// ShellWord quotes a word for a POSIX shell where it needs it.
func ShellWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,@%+", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// ShellWords are words as one shell line.
func ShellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellWord(w)
	}
	return strings.Join(quoted, " ")
}

// ClusterFlags are the flags of this run that say which cluster is meant, each with
// a blank before it: a command that is offered works on the same one. What the
// environment says holds for that command, too; a snapshot takes no commands.
func (f *Factory) ClusterFlags() string {
	var b strings.Builder
	for _, flag := range [][2]string{{"sandbox", f.Global.Sandbox}, {"context", f.Global.Context}, {"kubeconfig", f.Global.Kubeconfig}} {
		switch {
		case flag[1] == "" || f.Global.Snapshot != "":
		case flag[0] == "sandbox" && flag[1] == DefaultSandbox:
			b.WriteString(" --sandbox")
		default:
			b.WriteString(" --" + flag[0] + "=" + ShellWord(flag[1]))
		}
	}
	return b.String()
}

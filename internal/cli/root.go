package cli

import (
	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/canceljob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/configcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/connectcluster"
	"github.com/hyperpod-cli/hyperpod/internal/cli/copyfile"
	"github.com/hyperpod-cli/hyperpod/internal/cli/createcluster"
	"github.com/hyperpod-cli/hyperpod/internal/cli/createtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/dashboardcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/deletecluster"
	"github.com/hyperpod-cli/hyperpod/internal/cli/deletetemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/describecluster"
	"github.com/hyperpod-cli/hyperpod/internal/cli/doctorcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/execcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/explainjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getclusters"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getlog"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getqueue"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getquota"
	"github.com/hyperpod-cli/hyperpod/internal/cli/gettemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/gettoken"
	"github.com/hyperpod-cli/hyperpod/internal/cli/getusage"
	"github.com/hyperpod-cli/hyperpod/internal/cli/governancecmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listclusterevents"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listclusternodes"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listinstancetypes"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listjobs"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listpods"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listtemplates"
	"github.com/hyperpod-cli/hyperpod/internal/cli/mcpcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/offline"
	"github.com/hyperpod-cli/hyperpod/internal/cli/openconsole"
	"github.com/hyperpod-cli/hyperpod/internal/cli/patchjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/portforward"
	"github.com/hyperpod-cli/hyperpod/internal/cli/record"
	"github.com/hyperpod-cli/hyperpod/internal/cli/repairnodes"
	"github.com/hyperpod-cli/hyperpod/internal/cli/reportcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/sandboxcmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/savesnapshot"
	"github.com/hyperpod-cli/hyperpod/internal/cli/simulatecmd"
	"github.com/hyperpod-cli/hyperpod/internal/cli/startestimate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/startjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/startsession"
	"github.com/hyperpod-cli/hyperpod/internal/cli/updatecluster"
	"github.com/hyperpod-cli/hyperpod/internal/cli/validatetemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
)

// The groups of commands in the help text.
const (
	groupClusters  = "clusters"
	groupJobs      = "jobs"
	groupQuota     = "quota"
	groupTemplates = "templates"
	groupOffline   = "offline"
	groupOther     = "other"
)

// NewRoot returns the root command.
func NewRoot(f *factory.Factory) *cobra.Command {
	offline.Use(f)
	root := &cobra.Command{
		Use:   "hyperpod",
		Short: "Run training jobs on Kubernetes clusters that share accelerators",
		Long: `hyperpod starts, follows and explains training jobs on Kubernetes clusters that
share accelerators with Kueue, such as Amazon SageMaker HyperPod on EKS with
task governance.

To try it without a cluster, add --sandbox to any command. The command then uses
a sandbox: a practice cluster on this machine.`,
		Example: `  hyperpod start-job --name smpv2-llama2 --namespace hyperpod-ns-ml-engineers --sandbox
  hyperpod list-jobs --all-namespaces --sandbox`,
		Version:           f.Version,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error { return prepare(f, cmd, args) },
	}
	root.SetOut(f.IO.Out)
	root.SetErr(f.IO.Err)
	root.SetIn(f.IO.In)
	root.SetFlagErrorFunc(flagError)
	f.AddGlobalFlags(root.PersistentFlags())
	f.CompleteGlobalFlags(root)

	for _, g := range commandGroups(f) {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID(groupOther)
	root.AddCommand(helpTopics()...)
	addHelpJSON(f, root)
	addFormats(f, root)
	root.SetUsageFunc(f.PrintUsage)
	return root
}

// commandGroup is a group of commands in the help of the program.
type commandGroup struct {
	id, title string
	commands  []*cobra.Command
}

// commandGroups returns all commands, in the order of the help.
func commandGroups(f *factory.Factory) []commandGroup {
	return []commandGroup{
		{groupJobs, "Jobs:", []*cobra.Command{
			startjob.NewCmd(f, nil),
			listjobs.NewCmd(f, nil),
			getjob.NewCmd(f, integration.RestoreJob, nil),
			explainjob.NewCmd(f, nil),
			waitjob.NewCmd(f, nil),
			patchjob.NewCmd(f, nil),
			canceljob.NewCmd(f, nil),
			listpods.NewCmd(f, nil),
			getlog.NewCmd(f, nil),
			execcmd.NewCmd(f, nil),
			portforward.NewCmd(f, nil),
			copyfile.NewCmd(f, nil),
			openconsole.NewCmd(f, nil),
		}},
		{groupQuota, "Quota and queues:", []*cobra.Command{
			getquota.NewCmd(f, nil),
			getqueue.NewCmd(f, startestimate.Of, nil),
			getusage.NewCmd(f, nil),
			dashboardcmd.NewCmd(f, nil),
			record.NewCmd(f, nil),
			reportcmd.NewCmd(f, nil),
			governancecmd.NewCmd(f),
		}},
		{groupClusters, "Clusters:", []*cobra.Command{
			getclusters.NewCmd(f, nil),
			connectcluster.NewCmd(f, nil),
			describecluster.NewCmd(f, nil),
			listclusternodes.NewCmd(f, nil),
			listclusterevents.NewCmd(f, nil),
			createcluster.NewCmd(f, nil),
			updatecluster.NewCmd(f, nil),
			updatecluster.NewSoftwareCmd(f, nil),
			deletecluster.NewCmd(f, nil),
			startsession.NewCmd(f, nil),
			repairnodes.NewAddCmd(f, nil),
			repairnodes.NewCheckCmd(f, nil),
			repairnodes.NewRebootCmd(f, nil),
			repairnodes.NewReplaceCmd(f, nil),
			repairnodes.NewDeleteCmd(f, nil),
			gettoken.NewCmd(f, nil),
		}},
		{groupTemplates, "Templates:", []*cobra.Command{
			listtemplates.NewCmd(f, nil),
			gettemplate.NewCmd(f, nil),
			createtemplate.NewCmd(f, nil),
			deletetemplate.NewCmd(f, nil),
			validatetemplate.NewCmd(f, nil),
			listinstancetypes.NewCmd(f, nil),
		}},
		{groupOffline, "Simulation, snapshots and sandboxes:", []*cobra.Command{
			simulatecmd.NewCmd(f, nil),
			savesnapshot.NewCmd(f, nil),
			sandboxcmd.NewCmd(f),
		}},
		{groupOther, "Other:", []*cobra.Command{configcmd.NewCmd(f), doctorcmd.NewCmd(f, nil), mcpcmd.NewCmd(f, Run, nil), newCompletion(f), newVersion(f)}},
	}
}

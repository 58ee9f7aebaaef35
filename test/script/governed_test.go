package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// allocate gives ml-prod a compute allocation that failed, and one of a team that is not
// in examples/teams.yaml.
func allocate(t *testing.T, s *fake.Server) {
	t.Helper()
	arn := s.ClusterARN("ml-prod")
	for _, team := range []string{"interns", "visitors"} {
		in := fmt.Sprintf(`{"Name":%q,"ClusterArn":%q,"ComputeQuotaConfig":{"ComputeQuotaResources":[{"InstanceType":"ml.p4d.24xlarge","Count":1}]},"ComputeQuotaTarget":{"TeamName":%q}}`, team, arn, team)
		if failure := s.Do("CreateComputeQuota", in); failure != nil {
			t.Fatal(failure)
		}
	}
	s.EndsIn("interns", fake.Ending{Status: "UpdateFailed", Reason: "no capacity", Times: 1})
	id, version := s.IDOf("interns")
	if failure := s.Do("UpdateComputeQuota", fmt.Sprintf(`{"ComputeQuotaId":%q,"TargetVersion":%d,"Description":"x"}`, id, version)); failure != nil {
		t.Fatal(failure)
	}
}

// governedCommands are commands about the compute allocations and policies of an
// account, after aws.
func governedCommands() map[string]func(*testscript.TestScript, bool, []string) {
	account := func(ts *testscript.TestScript, ok bool, usage string) *fake.Server {
		s := server(ts).aws
		if s == nil || !ok {
			ts.Fatalf("usage: %s, after aws", usage)
		}
		return s
	}
	return map[string]func(*testscript.TestScript, bool, []string){
		// awsdo OPERATION NAME JSON: another administrator changes the resource of a name;
		// its id and version are filled in, or the name and cluster ml-prod of a new one.
		"awsdo": func(ts *testscript.TestScript, neg bool, args []string) {
			s := account(ts, !neg && len(args) == 3, "awsdo OPERATION NAME JSON")
			in := map[string]any{}
			ts.Check(json.Unmarshal([]byte(args[2]), &in))
			kind := strings.NewReplacer("Create", "", "Update", "", "Delete", "").Replace(args[0])
			if id, version := s.IDOf(args[1]); !strings.HasPrefix(args[0], "Create") {
				in[kind+"Id"] = id
				if strings.HasPrefix(args[0], "Update") {
					in["TargetVersion"] = version
				}
			} else {
				in["Name"], in["ClusterArn"] = args[1], s.ClusterARN("ml-prod")
			}
			text, err := json.Marshal(in)
			ts.Check(err)
			if failure := s.Do(args[0], string(text)); failure != nil {
				ts.Fatalf("%s: %v", args[0], failure)
			}
		},
		// awsends NAME STATUS TIMES REASON...: changes of the resource end in a status.
		"awsends": func(ts *testscript.TestScript, neg bool, args []string) {
			s := account(ts, !neg && len(args) >= 3, "awsends NAME STATUS TIMES REASON...")
			n, err := strconv.Atoi(args[2])
			ts.Check(err)
			s.EndsIn(args[0], fake.Ending{Status: args[1], Times: n, Reason: strings.Join(args[3:], " ")})
		},
		// awshang OPERATION TEXT: the next request with the text has no answer.
		"awshang": func(ts *testscript.TestScript, neg bool, args []string) {
			account(ts, !neg && len(args) == 2, "awshang OPERATION TEXT").Fail(fake.Fault{Operation: args[0], Contains: args[1], Hang: true, Times: 1})
		},
		// awsfail OPERATION CODE TIMES STATUS: the operation fails; TIMES 0 is always.
		"awsfail": func(ts *testscript.TestScript, neg bool, args []string) {
			s := account(ts, !neg && len(args) == 4, "awsfail OPERATION CODE TIMES STATUS")
			n, err := strconv.Atoi(args[2])
			ts.Check(err)
			status, err := strconv.Atoi(args[3])
			ts.Check(err)
			s.Fail(fake.Fault{Operation: args[0], Code: args[1], Times: n, Status: status, Message: "the fake says no"})
		},
		// awsallow NAME: requests may have a member or value that the service model lacks.
		"awsallow": func(ts *testscript.TestScript, neg bool, args []string) {
			account(ts, !neg && len(args) == 1, "awsallow NAME").Allow(args[0])
		},
		// awscalls-none OPERATION: the operation was not requested.
		"awscalls-none": func(ts *testscript.TestScript, neg bool, args []string) {
			s := account(ts, !neg && len(args) == 1, "awscalls-none OPERATION")
			if slices.Contains(s.Calls(), args[0]) {
				ts.Fatalf("%s was requested: %s", args[0], strings.Join(s.Calls(), " "))
			}
		},
		// awsshow NAME: what the account has of a compute allocation or policy, to stdout.
		"awsshow": func(ts *testscript.TestScript, neg bool, args []string) {
			s := account(ts, !neg && len(args) == 1, "awsshow NAME")
			text, err := json.Marshal(s.Show(args[0]))
			ts.Check(err)
			_, err = ts.Stdout().Write(append(text, '\n'))
			ts.Check(err)
		},
		// awsentry CLUSTER ARN TYPE GROUP [POLICY...]: an access entry that exists.
		"awsentry": func(ts *testscript.TestScript, neg bool, args []string) {
			s := account(ts, !neg && len(args) >= 4, "awsentry CLUSTER ARN TYPE GROUP [POLICY...]")
			s.AddAccessEntry(args[0], args[1], args[2], strings.Fields(args[3]), args[4:])
		},
		// awsawait OPERATION N: waits until the operation was requested N times.
		"awsawait": func(ts *testscript.TestScript, neg bool, args []string) {
			s := account(ts, !neg && len(args) == 2, "awsawait OPERATION N")
			want, err := strconv.Atoi(args[1])
			ts.Check(err)
			await(ts, func() bool {
				n := 0
				for _, c := range s.Calls() {
					if c == args[0] {
						n++
					}
				}
				return n >= want
			}, func() string { return fmt.Sprintf("no %d requests for %s", want, args[0]) })
		},
	}
}

// Package reporttext writes reports: as CSV, as FOCUS rows for FinOps tools, as Markdown and as a page of HTML.
package reporttext

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/report"
)

// csvKey is what a row of the CSV is of.
type csvKey struct{ date, namespace, team, instanceType string }

// csvRow has total, allocated and borrowed hours of Neuron cores, GPUs and vCPUs, and the hours of waiting for GPUs
// or Neuron cores.
type csvRow struct {
	hours  [3][3]float64
	waited float64
	cost   *float64
}

// CSV writes a row for each day, namespace, team and instance type. The first 13 columns are the summary of
// awslabs/sagemaker-hyperpod-usage-report: allocated is what was used without what was borrowed.
func CSV(d *report.Document) ([]byte, error) {
	rows := map[csvKey]*csvRow{}
	var order []csvKey
	for _, r := range d.Rows {
		k := csvKey{r.Date, r.Namespace, r.Team, r.InstanceType}
		row := rows[k]
		if row == nil {
			row = &csvRow{}
			rows[k] = row
			order = append(order, k)
		}
		at, factor := class(r)
		if at < 0 {
			continue
		}
		row.hours[at][0] += factor * r.Used
		row.hours[at][1] += factor * (r.Used - r.Borrowed)
		row.hours[at][2] += factor * r.Borrowed
		if at < 2 {
			row.waited += factor * r.Waited
		}
		if r.Cost != nil {
			cost := *r.Cost
			if row.cost != nil {
				cost += *row.cost
			}
			row.cost = &cost
		}
	}
	titles := []string{"report_date", "namespace", "team", "instance_type"}
	for _, of := range []string{"neuron_core", "gpu", "vcpu"} {
		for _, part := range []string{"total", "allocated", "borrowed"} {
			titles = append(titles, part+"_"+of+"_utilization_hours")
		}
	}
	lines := [][]string{append(titles, "waiting_device_hours", "cost", "currency")}
	for _, k := range order {
		row := rows[k]
		line := []string{k.date, k.namespace, k.team, k.instanceType}
		for _, of := range row.hours {
			for _, n := range of {
				line = append(line, number(n, 2))
			}
		}
		lines = append(lines, append(line, number(row.waited, 2), money(row.cost), currency(d)))
	}
	return table(lines)
}

// class returns the column of a resource: 0 Neuron cores, 1 GPUs, 2 vCPUs, -1 none; and what one device counts there.
func class(r report.UsageRow) (at int, factor float64) {
	switch {
	case r.Resource == report.CPU:
		return 2, 1
	case r.Resource == "aws.amazon.com/neuroncore":
		return 0, 1
	case strings.HasPrefix(r.Resource, "aws.amazon.com/neuron"):
		if strings.HasPrefix(r.InstanceType, "ml.trn2") { // a Trainium2 device has eight cores, others two
			return 0, 8
		}
		return 0, 2
	}
	if worth, ok := quota.GPUs(r.Resource); ok {
		return 1, worth
	}
	return -1, 0
}

func number(n float64, digits int) string { return strconv.FormatFloat(n, 'f', digits, 64) }

func money(cost *float64) string {
	if cost == nil {
		return ""
	}
	return number(*cost, 2)
}

func currency(d *report.Document) string {
	if d.Prices == nil {
		return ""
	}
	return d.Prices.Currency
}

// table writes lines as RFC 4180. A cell that a spreadsheet would take for a formula gets an apostrophe in front.
func table(lines [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, line := range lines {
		line = slices.Clone(line)
		for i, cell := range line {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				line[i] = "'" + cell
			}
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// focusColumns are the columns of FOCUS 1.2 that a source of charges without a bill can fill, and own ones with x_.
var focusColumns = []string{"BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory", "ChargeClass",
	"ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart", "ConsumedQuantity", "ConsumedUnit", "ContractedCost", "EffectiveCost", "InvoiceIssuerName",
	"ListCost", "ListUnitPrice", "PricingQuantity", "PricingUnit", "ProviderName", "PublisherName", "ResourceName", "ResourceType", "ServiceCategory", "ServiceName",
	"ServiceSubcategory", "SkuId", "SubAccountId", "SubAccountName", "Tags", "x_Team", "x_Owner", "x_Project", "x_BorrowedQuantity"}

// FOCUS writes the used device-hours with a price as rows of the FinOps Open Cost and Usage Specification 1.2.
// BilledCost is 0: the rows share out a cost that the cloud provider bills, and are not a bill.
func FOCUS(d *report.Document) ([]byte, error) {
	lines := [][]string{focusColumns}
	for _, r := range d.Rows {
		if r.Cost == nil || r.Used == 0 {
			continue
		}
		day, err := time.Parse(time.DateOnly, r.Date)
		if err != nil {
			return nil, err
		}
		month := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
		tags, err := json.Marshal(map[string]string{"team": r.Team, "owner": r.Owner, "project": r.Project})
		if err != nil {
			return nil, err
		}
		cost, quantity, unit := number(*r.Cost, 6), number(r.Used, 6), "Hours"
		at := func(t time.Time) string { return t.Format(time.RFC3339) }
		lines = append(lines, []string{"0", d.Cluster, d.Cluster, currency(d), at(month.AddDate(0, 1, 0)), at(month), "Usage", "",
			r.Resource + " of " + r.InstanceType + " used by team " + r.Team, "Usage-Based", at(day.AddDate(0, 0, 1)), at(day), quantity, unit, cost, cost, d.Cluster,
			cost, number(*r.Cost/r.Used, 6), quantity, unit, d.Cluster, d.Cluster, r.Namespace, "Namespace", "AI and Machine Learning", "Shared accelerators",
			"AI Platforms", r.InstanceType + "/" + r.Resource, r.Namespace, r.Team, string(tags), r.Team, r.Owner, r.Project, number(r.Borrowed, 6)})
	}
	return table(lines)
}

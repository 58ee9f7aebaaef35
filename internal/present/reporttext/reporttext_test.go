package reporttext

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/report"
)

func hostile() *report.Document {
	cost := 2.5
	name := "<script>=cmd|'|\"&"
	return &report.Document{Cluster: name, From: time.Unix(0, 0).UTC(), To: time.Unix(86400, 0).UTC(), Resources: []string{"nvidia.com/gpu"},
		Teams:  []report.Row{{Name: name, Hours: report.Hours{Used: report.Amounts{"nvidia.com/gpu": 10}, Borrowed: report.Amounts{"nvidia.com/gpu": 4}}, Jobs: 1, Cost: &cost}},
		Owners: []report.Row{{Name: "=1+1"}},
		Days:   []report.DayRow{{Date: "1970-01-01"}},
		Prices: &report.PricesJSON{Currency: "USD"},
		Rows: []report.UsageRow{{Date: "1970-01-01", Namespace: "n", Team: "=1+1", Owner: name, InstanceType: "ml.p5.48xlarge", Resource: "nvidia.com/gpu", Used: 10, Borrowed: 4, Waited: 1, Cost: &cost},
			{Date: "1970-01-01", Namespace: "n", Team: "=1+1", Owner: "b", InstanceType: "ml.p5.48xlarge", Resource: "cpu", Used: 96},
			{Date: "1970-01-01", Namespace: "n", Team: "t", InstanceType: "ml.trn1.32xlarge", Resource: "aws.amazon.com/neurondevice", Used: 3}}}
}

// TestCSV: allocated and borrowed are the total, a device counts its cores, and no cell is a formula.
func TestCSV(t *testing.T) {
	text, err := CSV(hostile())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatal(err, rows)
	}
	if got := strings.Join(rows[1], ","); got != "1970-01-01,n,'=1+1,ml.p5.48xlarge,0.00,0.00,0.00,10.00,6.00,4.00,96.00,96.00,0.00,1.00,2.50,USD" {
		t.Error(got)
	}
	if got := strings.Join(rows[2], ","); got != "1970-01-01,n,t,ml.trn1.32xlarge,6.00,6.00,0.00,0.00,0.00,0.00,0.00,0.00,0.00,0.00,,USD" {
		t.Error(got)
	}
}

// TestFOCUS: every row has every column, and only what has a cost is a row.
func TestFOCUS(t *testing.T) {
	text, err := FOCUS(hostile())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 2 || len(rows[1]) != len(focusColumns) {
		t.Fatal(err, rows)
	}
	row := map[string]string{}
	for i, name := range rows[0] {
		row[name] = rows[1][i]
	}
	if row["EffectiveCost"] != "2.500000" || row["ConsumedQuantity"] != "10.000000" || row["ListUnitPrice"] != "0.250000" || row["BillingPeriodEnd"] != "1970-02-01T00:00:00Z" ||
		row["ChargePeriodEnd"] != "1970-01-02T00:00:00Z" || row["ChargeCategory"] != "Usage" || row["x_BorrowedQuantity"] != "4.000000" {
		t.Error(row)
	}
}

// TestFOCUSHasTheMandatoryColumns: those of FOCUS 1.2, and own ones only with the prefix for them.
func TestFOCUSHasTheMandatoryColumns(t *testing.T) {
	for _, name := range strings.Fields(`BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodEnd BillingPeriodStart ChargeCategory ChargeClass
		ChargeDescription ChargePeriodEnd ChargePeriodStart ContractedCost EffectiveCost InvoiceIssuerName ListCost PricingQuantity PricingUnit ProviderName
		PublisherName ServiceCategory ServiceName`) {
		if !slices.Contains(focusColumns, name) {
			t.Errorf("no column %s", name)
		}
	}
	text, err := FOCUS(hostile())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) float64 {
		n, err := strconv.ParseFloat(rows[1][slices.Index(focusColumns, name)], 64)
		if err != nil {
			t.Fatal(name, err)
		}
		return n
	}
	if price, quantity, cost := at("ListUnitPrice"), at("PricingQuantity"), at("ListCost"); price*quantity != cost {
		t.Errorf("%v times %v is not %v", price, quantity, cost)
	}
}

// TestNamesAreNoMarkup: a name cannot put anything into the page or the tables.
func TestNamesAreNoMarkup(t *testing.T) {
	text := HTML(hostile(), time.Unix(0, 0))
	if bytes.Contains(text, []byte("<script")) || !bytes.Contains(text, []byte("&lt;script&gt;")) {
		t.Errorf("%s", text)
	}
	// Attributes are quoted, elements closed: the page is XML, but for its void elements.
	body := strings.ReplaceAll(string(text[bytes.Index(text, []byte("<body>")):bytes.Index(text, []byte("</html>"))]), "&#34;", "&quot;")
	for d := xml.NewDecoder(strings.NewReader(body)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if md := Markdown(hostile()); strings.Contains(md, "<script") || !strings.Contains(md, `\|`) {
		t.Error(md)
	}
}

// TestManyTeams: a report about 1,000 teams has a table and a chart that fit a page, with the sums of the others.
func TestManyTeams(t *testing.T) {
	d := hostile()
	d.Teams = nil
	for i := range 1000 {
		d.Teams = append(d.Teams, report.Row{Name: fmt.Sprintf("t%04d", i), Hours: report.Hours{Used: report.Amounts{"nvidia.com/gpu": float64(i)}}})
	}
	text := Markdown(d)
	if n := strings.Count(text, "| t0"); n != MostRows || !strings.Contains(text, "| 960 more (see -o csv) | 460320.0 gpu-h |") {
		t.Error(n, text)
	}
	if page := string(HTML(d, time.Unix(0, 0))); strings.Count(page, "<td>") > 9*50 || !strings.Contains(page, "975 more (see -o csv)") || !strings.Contains(page, "the 25 with the most device-hours have a bar each") || !strings.Contains(page, "960 more (see -o csv)") {
		t.Errorf("%d cells", strings.Count(page, "<td>"))
	}
}

// TestFactsOfNothing: without admissions and ends there are no times, and the facts say why.
func TestFactsOfNothing(t *testing.T) {
	facts := Facts(&report.Document{})
	if want := [2]string{"wait", "no job was admitted"}; facts[0] != want {
		t.Errorf("%q, not %q", facts[0], want)
	}
	if want := [2]string{"run", "no job ended"}; facts[1] != want {
		t.Errorf("%q, not %q", facts[1], want)
	}
}

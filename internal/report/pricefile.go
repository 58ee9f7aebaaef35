package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// priceFile is a table of prices as people write it.
type priceFile struct {
	Currency string `json:"currency"`
	// Date is when the prices held, Source where they come from.
	Date      string                   `json:"date"`
	Source    string                   `json:"source"`
	Instances map[string]instancePrice `json:"instances"`
}

// instancePrice is what an hour of an instance costs, and how many accelerators it has; 0 is as in the table of
// instance types, or as the nodes have.
type instancePrice struct {
	Hour    float64 `json:"hour"`
	Devices int     `json:"devices"`
}

// ParsePrices reads a table of prices. devices returns how many accelerators an instance type has, 0 if unknown.
func ParsePrices(text []byte, devices func(instanceType string) int) (*Prices, error) {
	var f priceFile
	if err := yaml.UnmarshalStrict(text, &f); err != nil {
		return nil, plain(err)
	}
	if len(f.Currency) != 3 {
		return nil, fmt.Errorf("currency must be three letters, for example USD")
	}
	if _, err := time.Parse(time.DateOnly, f.Date); err != nil {
		return nil, fmt.Errorf("date must be a day, for example 2026-01-31")
	}
	if len(f.Instances) == 0 {
		return nil, fmt.Errorf("instances must have a price for at least one instance type")
	}
	out := &Prices{Currency: f.Currency, Date: f.Date, Source: f.Source, Device: map[string]float64{}, Hour: map[string]float64{}}
	var names []string
	for name := range f.Instances {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := f.Instances[name]
		if p.Hour < 0 || p.Devices < 0 || p.Hour > 1e6 {
			return nil, fmt.Errorf("instances.%s: hour and devices must be at least 0", name)
		}
		n := p.Devices
		if n == 0 {
			n = devices(name)
		}
		if n > 0 {
			out.Device[name] = p.Hour / float64(n)
		} else {
			out.Hour[name] = p.Hour
		}
	}
	return out, nil
}

// plain words an error of the YAML library.
func plain(err error) error {
	text := err.Error()
	if _, field, ok := strings.Cut(text, "Go struct field "); ok {
		field, _, _ = strings.Cut(field, " ")
		_, field, _ = strings.Cut(field, ".") // behind the type
		return fmt.Errorf("%s has the wrong type", field)
	}
	if strings.Contains(text, "cannot unmarshal") {
		return errors.New("the file must have currency, date and instances")
	}
	if _, detail, ok := strings.Cut(text, "json: "); ok {
		return errors.New(detail)
	}
	return errors.New(strings.TrimPrefix(text, "error converting YAML to JSON: yaml: "))
}

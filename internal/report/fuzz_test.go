package report

import (
	"math"
	"testing"
)

// FuzzParsePrices: a table of prices has prices that can be multiplied and added, or is refused.
func FuzzParsePrices(f *testing.F) {
	f.Add([]byte("currency: USD\ndate: 2026-01-31\ninstances:\n  ml.p5.48xlarge: {hour: 98.32, devices: 8}\n  x: {hour: 1e-9}\n"), 8)
	f.Add([]byte("currency: USD\ndate: 2026-01-31\ninstances: {a: {hour: .nan}}\n"), 0)
	f.Fuzz(func(t *testing.T, text []byte, devices int) {
		prices, err := ParsePrices(text, func(string) int { return devices })
		if err != nil {
			return
		}
		for _, of := range []map[string]float64{prices.Device, prices.Hour} {
			for name, price := range of {
				if math.IsNaN(price) || math.IsInf(price, 0) || price < 0 {
					t.Errorf("%s costs %v", name, price)
				}
			}
		}
	})
}

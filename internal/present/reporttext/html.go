package reporttext

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"math"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/report"
)

//go:embed head.html
var head string

// chart is a bar chart as SVG coordinates.
type chart struct {
	Title, Summary string
	Width, Height  int
	Bars           []bar
	Labels         []label
	Legend         []legend
}

type bar struct {
	X, Y, W, H float64
	Class      string
	Title      string
}

type label struct {
	X, Y         float64
	Anchor, Text string
}

type legend struct{ Class, Text string }

var kinds = []legend{{"own", "used, own quota"}, {"borrowed", "borrowed"}, {"idle", "idle"}, {"waited", "waited for"}}

// HTML returns a report as one page without scripts and without anything to load. It is written by hand: templates would
// keep the linker from dropping methods that nothing calls.
func HTML(d *report.Document, now time.Time) []byte {
	w := &writer{}
	w.raw(head)
	w.raw("<body>\n<main>\n<h1>Accelerator use</h1>\n<p>")
	w.text("%s to %s, %s. Generated %s.", d.From.Format("2006-01-02 15:04"), d.To.Format("2006-01-02 15:04 UTC"), d.Cluster, now.UTC().Format("2006-01-02 15:04 UTC"))
	w.raw("</p>\n<dl>")
	for _, f := range Facts(d) {
		w.tag("dt", f[0])
		w.tag("dd", f[1])
	}
	w.raw("</dl>\n")
	for _, n := range Notes(d) {
		w.tag("p", "Note: "+n+".")
	}
	for i, r := range d.Resources {
		for k, c := range []chart{teams(d, r), days(d, r), hoursOfDay(d, r)} {
			w.chart(c, 3*i+k)
		}
	}
	for _, g := range groups(d) {
		w.group(g)
	}
	w.raw("</main>\n</body>\n</html>\n")
	return w.b.Bytes()
}

// writer writes markup; text is escaped.
type writer struct{ b bytes.Buffer }

func (w *writer) raw(markup string) { w.b.WriteString(markup) }

func (w *writer) text(format string, args ...any) {
	w.b.WriteString(html.EscapeString(fmt.Sprintf(format, args...)))
}

func (w *writer) tag(name, text string) {
	w.raw("<" + name + ">")
	w.text("%s", text)
	w.raw("</" + name + ">")
}

// attributes writes name and number pairs.
func (w *writer) attributes(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&w.b, " %s=%q", pairs[i], fmt.Sprint(pairs[i+1]))
	}
}

func (w *writer) chart(c chart, id int) {
	w.raw("<figure>\n<figcaption><strong>")
	w.text("%s", c.Title)
	w.raw("</strong>")
	for _, l := range c.Legend {
		w.raw(`<span class="key ` + l.Class + `"></span>`)
		w.text("%s", l.Text)
	}
	fmt.Fprintf(&w.b, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t%d s%d\"><title id=\"t%d\">", c.Width, c.Height, id, id, id)
	w.text("%s", c.Title)
	fmt.Fprintf(&w.b, "</title><desc id=\"s%d\">", id)
	w.text("%s", c.Summary)
	w.raw("</desc>\n")
	for _, b := range c.Bars {
		w.raw("<rect")
		w.attributes("class", b.Class, "x", round(b.X), "y", round(b.Y), "width", round(b.W), "height", round(b.H))
		w.raw(">")
		w.tag("title", b.Title)
		w.raw("</rect>\n")
	}
	for _, l := range c.Labels {
		w.raw("<text")
		w.attributes("x", round(l.X), "y", round(l.Y), "text-anchor", l.Anchor)
		w.raw(">")
		w.text("%s", l.Text)
		w.raw("</text>\n")
	}
	w.raw("</svg>\n</figure>\n")
}

func (w *writer) group(g Group) {
	w.tag("h2", "By "+g.Title)
	w.raw(`<div class="wide" tabindex="0" role="region" aria-label="By ` + html.EscapeString(g.Title) + `"><table>` + "\n<thead><tr>")
	for _, title := range []string{g.Title, "used", "borrowed", "lent", "idle", "waited", "jobs", "cost", "idle cost"} {
		w.raw(`<th scope="col">` + html.EscapeString(title) + "</th>")
	}
	w.raw("</tr></thead>\n<tbody>")
	for _, r := range g.Rows {
		w.raw(`<tr><th scope="row">` + html.EscapeString(Name(r.Name)) + "</th>")
		for _, cell := range []string{Hours(r.Used), Hours(r.Borrowed), Hours(r.Lent), Hours(r.Idle), Hours(r.Waited), fmt.Sprint(r.Jobs), Money(r.Cost), Money(r.IdleCost)} {
			w.tag("td", cell)
		}
		w.raw("</tr>\n")
	}
	w.raw("</tbody></table></div>\n")
}

func round(n float64) float64 { return math.Round(n*10) / 10 }

// mostBars is the number of teams that have a bar.
const mostBars = 25

// teams has a horizontal bar for each team with many device-hours, and one for the others together.
func teams(d *report.Document, resource string) chart {
	const left, width, row = 170.0, 520.0, 26.0
	c := chart{Title: resource + " by team, in device-hours", Width: 720, Legend: kinds}
	rows, rest := report.Most(d.Teams, mostBars)
	if rest != nil {
		rest.Name = fmt.Sprintf("%d more (%s)", len(d.Teams)-len(rows), allRows)
		rows = append(slices.Clone(rows), *rest)
	}
	most := 0.0
	for _, t := range rows {
		most = max(most, t.Used[resource]+t.Idle[resource]+t.Waited[resource])
	}
	for i, t := range rows {
		y, x := float64(i)*row+4, left
		c.Labels = append(c.Labels, label{left - 8, y + 14, "end", Name(t.Name)})
		for k, n := range []float64{t.Used[resource] - t.Borrowed[resource], t.Borrowed[resource], t.Idle[resource], t.Waited[resource]} {
			w := scale(n, most, width)
			if w > 0 {
				c.Bars = append(c.Bars, bar{x, y, w, row - 8, kinds[k].Class, fmt.Sprintf("%s: %.1f %s", Name(t.Name), n, kinds[k].Text)})
			}
			x += w
		}
	}
	c.Height = int(float64(len(rows))*row) + 8
	c.Summary = fmt.Sprintf("%d teams; the table by team has the numbers.", len(d.Teams))
	if rest != nil {
		c.Summary = fmt.Sprintf("%d teams; the %d with the most device-hours have a bar each.", len(d.Teams), mostBars)
	}
	return c
}

// columns has a vertical bar for each of some values.
func columns(title string, names []string, values [][]float64, classes []legend) chart {
	const height, base, left, width = 140.0, 150.0, 50.0, 650.0
	c := chart{Title: title, Width: 720, Height: 176, Legend: classes}
	most := 0.0
	for _, v := range values {
		sum := 0.0
		for _, n := range v {
			sum += n
		}
		most = max(most, sum)
	}
	step := width / math.Max(1, float64(len(values)))
	for i, v := range values {
		y := base
		for k, n := range v {
			if h := scale(n, most, height); h > 0 {
				y -= h
				c.Bars = append(c.Bars, bar{left + float64(i)*step, y, math.Max(1, step-2), h, classes[k].Class, fmt.Sprintf("%s: %.1f %s", names[i], n, classes[k].Text)})
			}
		}
		if i == 0 || i == len(values)-1 || len(values) <= 31 && i%7 == 0 && i < len(values)-3 {
			c.Labels = append(c.Labels, label{left + float64(i)*step, base + 16, "start", names[i]})
		}
	}
	if n := len(c.Labels); n > 1 {
		c.Labels[n-1].X, c.Labels[n-1].Anchor = left+width, "end"
	}
	c.Labels = append(c.Labels, label{left - 6, base - height + 10, "end", fmt.Sprintf("%.0f", most)}, label{left - 6, base, "end", "0"})
	c.Summary = fmt.Sprintf("From %s to %s, at most %.1f.", first(names), last(names), most)
	return c
}

func first(s []string) string {
	if len(s) == 0 {
		return "-"
	}
	return s[0]
}

func last(s []string) string { return first(s[max(0, len(s)-1):]) }

func days(d *report.Document, resource string) chart {
	var names []string
	var values [][]float64
	for _, day := range d.Days {
		names = append(names, day.Date)
		values = append(values, []float64{day.Used[resource] - day.Borrowed[resource], day.Borrowed[resource], day.Waited[resource]})
	}
	return columns(resource+" by day, in device-hours", names, values, []legend{kinds[0], kinds[1], kinds[3]})
}

func hoursOfDay(d *report.Document, resource string) chart {
	var names []string
	var values [][]float64
	for _, h := range d.HoursOfDay {
		names = append(names, fmt.Sprintf("%02d:00", h.Hour))
		values = append(values, []float64{h.Used[resource], h.Waited[resource]})
	}
	return columns(resource+" by hour of the day in UTC, average in use", names, values, []legend{{"own", "used"}, kinds[3]})
}

// scale returns the length of a part of a bar.
func scale(n, most, length float64) float64 {
	if most <= 0 || n <= 0 {
		return 0
	}
	return math.Round(n/most*length*10) / 10
}

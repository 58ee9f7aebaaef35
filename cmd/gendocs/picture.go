package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// pictures are the terminal pictures of the documents: file in docs, and the commands that they show.
var pictures = map[string][]string{
	"quota.svg": {"get-quota", "explain-job dino-giant -n hyperpod-ns-researchers"},
}

// makePictures returns the pictures by path: what the commands print to a color terminal now.
func makePictures(home string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, commands := range pictures {
		var screen strings.Builder
		for i, command := range commands {
			io, buffers := output.Test()
			now := func() time.Time { return time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC) }
			io.OutTTY, io.Width, io.Now, io.Color = true, columns, now, true
			env := map[string]string{"HOME": home, "HYPERPOD_SANDBOX": "1"}
			f := &factory.Factory{IO: io, Env: func(name string) string { return env[name] }, Now: now, Version: "dev"}
			if code := cli.Run(context.Background(), f, append(strings.Fields(command), "--color", "always")); code != 0 {
				return nil, fmt.Errorf("%s: exit code %d\n%s", command, code, buffers.Err)
			}
			if i > 0 {
				screen.WriteString("\n")
			}
			fmt.Fprintf(&screen, "\x1b[1m%s%s\x1b[m\n%s", self, command, buffers.Out)
		}
		files[filepath.Join("docs", name)] = svg(strings.TrimRight(screen.String(), "\n"))
	}
	return files, nil
}

// sgr finds the escape sequences of style and color (ECMA-48, Select Graphic Rendition).
var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// colors are the eight colors of a terminal, readable on the background of the picture.
var colors = map[string]string{"31": "#ff7b72", "32": "#7ee787", "33": "#f2cc60", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea"}

// svg draws what a terminal shows: a line of text for each line, with style and color, in a font of fixed width.
func svg(screen string) []byte {
	const advance, height, size, margin = 8.4, 19, 14, 16 // of a character, in pixels
	lines := strings.Split(screen, "\n")
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(sgr.ReplaceAllString(l, "")))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %d\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"%d\">\n",
		float64(width)*advance+2*margin, len(lines)*height+2*margin, size)
	b.WriteString("<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#161b22\"/>\n")
	for i, line := range lines {
		x, style := 0, ""
		for line != "" {
			text, next := line, ""
			at := sgr.FindStringSubmatchIndex(line)
			if at != nil {
				text, next, line = line[:at[0]], line[at[2]:at[3]], line[at[1]:]
			} else {
				line = ""
			}
			if strings.TrimSpace(text) != "" {
				n := utf8.RuneCountInString(text)
				fmt.Fprintf(&b, "<text xml:space=\"preserve\" x=\"%.1f\" y=\"%d\" textLength=\"%.1f\"%s>", float64(x)*advance+margin, margin+(i+1)*height-5, float64(n)*advance, styled(style))
				_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
				b.WriteString("</text>\n")
			}
			x += utf8.RuneCountInString(text)
			if at != nil {
				style = next
			}
		}
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// styled returns the attributes of a style such as "1;33".
func styled(style string) string {
	fill, rest := "#e6edf3", ""
	for code := range strings.SplitSeq(style, ";") {
		switch {
		case code == "1":
			rest = " font-weight=\"bold\""
		case code == "2":
			fill = "#8b949e"
		case colors[code] != "":
			fill = colors[code]
		}
	}
	return fmt.Sprintf(" fill=\"%s\"%s", fill, rest)
}

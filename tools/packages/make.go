package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

func (m *maker) create(name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(m.out, name))
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (m *maker) tarball(name string, list []file) error {
	return m.create(name, func(w io.Writer) error {
		gz, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		tw := tar.NewWriter(gz)
		for _, f := range list {
			data, err := os.ReadFile(f.path)
			if err != nil {
				return err
			}
			if err := tw.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(data)), ModTime: m.when, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}); err != nil {
				return err
			}
			if _, err := tw.Write(data); err != nil {
				return err
			}
		}
		if err := tw.Close(); err != nil {
			return err
		}
		return gz.Close()
	})
}

func (m *maker) zip(name string, list []file) error {
	return m.create(name, func(w io.Writer) error {
		zw := zip.NewWriter(w)
		for _, f := range list {
			data, err := os.ReadFile(f.path)
			if err != nil {
				return err
			}
			h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: m.when}
			h.SetMode(f.mode)
			to, err := zw.CreateHeader(h)
			if err != nil {
				return err
			}
			if _, err := to.Write(data); err != nil {
				return err
			}
		}
		return zw.Close()
	})
}

// packages makes the packages of Linux distributions.
func (m *maker) packages(arch, binary string) (made []string, err error) {
	for _, p := range m.release.Packages {
		for _, format := range p.Formats {
			info := &nfpm.Info{Name: "hyperpod", Arch: arch, Platform: "linux", Version: m.version, VersionSchema: "semver", Maintainer: p.Maintainer,
				Description: p.Description, Homepage: p.Homepage, License: p.License, Section: p.Section, MTime: m.when}
			info.Contents = files.Contents{{Source: binary, Destination: "/usr/bin/hyperpod", FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: m.when}}}
			for _, c := range p.Contents {
				if c.Type == files.TypeSymlink {
					info.Contents = append(info.Contents, &files.Content{Source: c.Src, Destination: c.Dst, Type: c.Type, FileInfo: &files.ContentFileInfo{MTime: m.when}})
					continue
				}
				found, err := filepath.Glob(filepath.Join(m.root, c.Src))
				if err != nil || len(found) == 0 {
					return nil, fmt.Errorf("no file matches %s", c.Src)
				}
				for _, source := range found {
					to := c.Dst
					if strings.HasSuffix(to, "/") {
						to += filepath.Base(source)
					}
					info.Contents = append(info.Contents, &files.Content{Source: source, Destination: to, FileInfo: &files.ContentFileInfo{Mode: 0o644, MTime: m.when}})
				}
			}
			info.RPM.BuildHost = "hyperpod" // else that of the machine
			info = nfpm.WithDefaults(info)
			if err := nfpm.PrepareForPackager(info, format); err != nil {
				return nil, err
			}
			packager, err := nfpm.Get(format)
			if err != nil {
				return nil, err
			}
			name := packager.ConventionalFileName(info)
			if err := m.create(name, func(w io.Writer) error { return packager.Package(info, w) }); err != nil {
				return nil, fmt.Errorf("%s: %w", format, err)
			}
			made = append(made, name)
		}
	}
	return made, nil
}

// sbom writes the modules of a binary as an SPDX 2.3 document.
func (m *maker) sbom(name, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	root := map[string]any{"SPDXID": "SPDXRef-binary", "name": "hyperpod", "versionInfo": m.version, "downloadLocation": "NOASSERTION", "licenseDeclared": "Apache-2.0",
		"filesAnalyzed": false, "checksums": []any{map[string]string{"algorithm": "SHA256", "checksumValue": digest}}}
	packages := []any{root}
	relations := []any{map[string]string{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-binary"}}
	for i, d := range info.Deps {
		for d.Replace != nil {
			d = d.Replace
		}
		id := fmt.Sprintf("SPDXRef-module-%d", i)
		packages = append(packages, map[string]any{"SPDXID": id, "name": d.Path, "versionInfo": d.Version, "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
			"externalRefs": []any{map[string]string{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + d.Path + "@" + d.Version}}})
		relations = append(relations, map[string]string{"spdxElementId": "SPDXRef-binary", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": id})
	}
	doc, err := json.MarshalIndent(map[string]any{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
		"documentNamespace": "https://spdx.org/spdxdocs/" + name + "-" + digest,
		"creationInfo":      map[string]any{"created": m.when.Format(time.RFC3339), "creators": []string{"Tool: hyperpod-packages"}},
		"packages":          packages, "relationships": relations}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.out, name+".spdx.json"), append(doc, '\n'), 0o644)
}

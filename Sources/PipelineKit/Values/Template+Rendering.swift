import Files
package import SystemPackage

extension Template {
    /// The bytes with every placeholder filled in. Throws where a component would be `..` or a value would bring a `/`
    /// of its own: neither can lead out of the folder.
    package func render(_ values: TemplateValues) throws(TemplateProblem) -> [UInt8] {
        var bytes: [UInt8] = []
        var afterPlaceholder = false
        var start = 0
        for segment in segments {
            switch segment {
            case .text(let text): bytes += text.utf8
            case .placeholder(let placeholder):
                if !afterPlaceholder {
                    afterPlaceholder = true
                    start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
                }
                bytes += try value(of: placeholder, values)
            }
        }
        if afterPlaceholder {
            for component in bytes[start...].split(separator: UInt8(ascii: "/")) where component.count <= 2 {
                if component.allSatisfy({ $0 == UInt8(ascii: ".") }) {
                    throw TemplateProblem(
                        "'\(source)' renders to '\(EscapedText.of(bytes))', which leads out of its folder")
                }
            }
        }
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw TemplateProblem("'\(source)' renders to an empty name for '\(values.name)'")
        }
        if use == .name, bytes.contains(UInt8(ascii: "/")) {
            throw TemplateProblem("'\(source)' is a file name, but renders to '\(EscapedText.of(bytes))' with '/'")
        }
        return bytes
    }

    /// The path that the template gives, below `base` where it is relative.
    package func path(_ values: TemplateValues, below base: FilePath) throws(TemplateProblem) -> FilePath {
        var bytes = try render(values)[...]
        // Only what is written with a leading `/` is absolute: `{path}/{name}` begins with one where `{path}` is empty.
        if !source.hasPrefix("/") { bytes = bytes.drop { $0 == UInt8(ascii: "/") } }
        for component in bytes.split(separator: UInt8(ascii: "/")) where component.count > FileName.longest {
            throw TemplateProblem(
                "'\(source)' renders to a name of \(component.count) bytes for '\(values.name)', and "
                    + "\(FileName.longest) is the limit")
        }
        let rendered = FilePath(bytes: bytes)
        return (rendered.isAbsolute ? rendered : base.pushing(rendered)).lexicallyNormalized()
    }

    /// The fixed beginning of the path: the folder, named without placeholders, that everything rendered lies in.
    package func fixedFolder(below base: FilePath) -> FilePath {
        var text = ""
        if case .text(let first) = segments.first { text = first }
        if segments.count > 1 || segments.isEmpty {
            text = text.lastIndex(of: "/").map { String(text[...$0]) } ?? ""
        }
        let fixed = FilePath(text)
        return (fixed.isAbsolute ? fixed : base.pushing(fixed)).lexicallyNormalized()
    }

    /// A fact is told as one word: `application-pdf` for `application/pdf`.
    private static func fact(_ name: String, _ values: TemplateValues) throws(TemplateProblem) -> [UInt8] {
        guard let fact = values.facts[name] else {
            throw TemplateProblem(
                "'{\(name)}' is unknown for '\(values.name)': the stage that sets it was skipped, or the payload "
                    + "is not a single file")
        }
        return fact.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "-") : $0 }
    }

    private func value(of placeholder: Placeholder, _ values: TemplateValues) throws(TemplateProblem) -> [UInt8] {
        switch placeholder {
        case .name: values.name.bytes
        case .stem: values.name.stem
        case .ext: values.name.extension
        case .path: Array(values.folders.map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
        case .pipeline: Array(values.pipeline.utf8)
        case .job: Array(values.job.utf8)
        case .date(let format): Array(values.date.formatted(format).utf8)
        case .fact(let name): try Self.fact(name, values)
        }
    }
}

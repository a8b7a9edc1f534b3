package import Files
import SystemPackage

/// Where an original goes below `processed` or `failed`: `processed: done/{date:%Y}`. What its path may name is known
/// since the claim, so that each attempt to settle a job leads to the same place.
extension PathTemplate {
    /// The folders below the fixed one that the original of a job goes into. Those that it lay in in the inbox come
    /// last, unless `{path}` has put them elsewhere.
    package func folders(for job: Job) throws(TemplateProblem) -> [FileName] {
        var path = try path(job.templateValues)
        _ = path.removePrefix(fixedFolder)
        return path.components.compactMap { FileName($0) } + (template.namesFolders ? [] : job.drop.folders)
    }
}

extension Template {
    /// Whether `{path}` stands in it.
    var namesFolders: Bool { segments.contains(.placeholder(.path)) }

    /// The words in braces that are not known of a drop when it is claimed.
    package static func laterWords(in text: String) -> [String] {
        words(in: text).filter { !placeholders.contains($0) && !$0.hasPrefix("date:") }
    }

    /// All words in braces.
    package static func words(in text: String) -> [String] {
        var words: [String] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            words.append(String(rest[open..<close].dropFirst()))
            rest = rest[close...].dropFirst()
        }
        return words
    }
}

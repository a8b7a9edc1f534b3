import Files
import PipelineKit
import SystemPackage

extension PipelineDecoder {
    /// The keys that every pipeline has, with what each is.
    static let required = [
        ("inbox", "the folder to watch"),
        ("processed", "the folder for originals that succeeded, or 'delete'"),
        ("failed", "the folder for originals that failed"),
        ("stages", "the list of what is done with each drop"),
    ]

    /// Reports a required key that is missing, unless it is present but misspelled, which is
    /// reported already.
    mutating func reportMissing(_ key: String, _ map: OptionMap) {
        guard !map.isMisspelt(key), let what = Self.required.first(where: { $0.0 == key })?.1 else { return }
        problems.append(OptionProblem("'\(key)' is missing: \(what)", at: .start))
    }

    mutating func folders(_ map: OptionMap, _ draft: inout PipelineDraft) {
        draft.inbox = folder("inbox", map)
        draft.work = folder("work", map)
        let base = base
        draft.trust =
            map.read("trust", problems: &problems) { node throws(OptionProblem) in
                var folders: [FilePath] = []
                for member in node.members { folders.append(try Self.folder(member, below: base).absolute) }
                return folders
            } ?? []
        draft.failed = originals("failed", map, &draft.failedTemplate)
        if let entry = map.given("processed"), entry.value.content.text == "delete" {
            draft.processed = PipelineDraft.Placed(value: .delete, position: entry.value.position)
        } else {
            let folder = originals("processed", map, &draft.processedTemplate)
            draft.processed = folder.map { PipelineDraft.Placed(value: .folder($0.value), position: $0.position) }
        }
    }

    private mutating func folder(_ key: String, _ map: OptionMap) -> PipelineDraft.Placed<FilePath>? {
        guard let entry = map.given(key) else {
            reportMissing(key, map)
            return nil
        }
        let base = base
        let path = map.read(key, problems: &problems) { node throws(OptionProblem) in
            try Self.folder(node, below: base)
        }
        return path.map { PipelineDraft.Placed(value: $0, position: entry.value.position) }
    }

    /// A folder for originals, which may end with placeholders: its fixed part, and the template.
    private mutating func originals(
        _ key: String, _ map: OptionMap, _ template: inout PathTemplate?
    ) -> PipelineDraft.Placed<FilePath>? {
        guard let entry = map.given(key) else {
            reportMissing(key, map)
            return nil
        }
        guard let text = entry.value.content.text, !Template.words(in: text).isEmpty else { return folder(key, map) }
        let base = base
        template = map.read(key, problems: &problems) { node throws(OptionProblem) in
            if let word = Template.laterWords(in: text).first {
                let known = Template.placeholders.map { "{\($0)}" }.joined(separator: " ")
                let hint = Suggestion.nearest(to: word, among: Template.placeholders).map { "did you mean '{\($0)}'?" }
                throw node.problem(
                    "'{\(EscapedText.of(word))}' is not known when a drop is claimed; "
                        + (hint ?? "known are: \(known)")
                )
            }
            if text.hasPrefix("~/") { throw node.problem(Self.tilde) }
            return PathTemplate(try node.template(for: .path), below: base.absolute)
        }
        return template.map { template in
            PipelineDraft.Placed(value: Self.normal(template.fixedFolder), position: entry.value.position)
        }
    }

    private static func folder(_ node: OptionNode, below base: FilePath) throws(OptionProblem) -> FilePath {
        let text = try node.string()
        if text.isEmpty { throw node.problem("expected a folder, found an empty string") }
        if text.utf8.contains(0) { throw node.problem("a path must not contain a NUL") }
        if text == "~" || text.hasPrefix("~/") { throw node.problem(tilde) }
        if let word = Template.words(in: text).first {
            throw node.problem(
                "placeholders are not allowed here, found '{\(EscapedText.of(word))}'; write the folder's name in full")
        }
        return normal(base.pushing(FilePath(text)))
    }

    /// Without `.`, `..` and a trailing slash.
    private static func normal(_ path: FilePath) -> FilePath {
        let path = path.lexicallyNormalized()
        return path.isEmpty ? FilePath(".") : path
    }

    /// The error for `~/…`, which would otherwise become a folder named `~`.
    static let tilde = "'~' is not expanded; write '${HOME}/…' or the path in full"
}

import Files
import PipelineKit

/// A map of a file while it is being read: which keys it may have, and a place for all that is wrong with it.
struct OptionMap {
    /// What it is called in messages: `match`; empty for the file's own keys.
    let name: String
    private let entries: [String: OptionNode.Entry]
    /// Keys that are meant by unknown ones.
    private var misspelt: Set<String> = []

    /// Reads a map and reports every unknown key. Nothing, or anything but a map, counts as an empty one. `isSecret`:
    /// what may be written in its place is not to be quoted, such as the URL that is a key of it.
    init(
        _ node: OptionNode?, name: String, of file: String = "a pipeline file", keys: [String], isSecret: Bool = false,
        problems: inout [OptionProblem]
    ) {
        self.name = name
        guard let node, !node.isNull else {
            entries = [:]
            return
        }
        guard case .map(let all) = node.content else {
            let found = isSecret ? node.kindAlone : EscapedText.of(node.kind)
            let what = name.isEmpty ? "\(file) must be a map" : "'\(name)' must be a map"
            problems.append(
                node.problem("\(what) of \(keys.joined(separator: ", ")); found \(found)"))
            entries = [:]
            return
        }
        for entry in all where !keys.contains(entry.key) {
            let meant = Suggestion.nearest(to: entry.key, among: keys)
            if let meant { misspelt.insert(meant) }
            let hint = meant.map { "did you mean '\($0)'?" }
            let list = "known keys: " + keys.joined(separator: ", ")
            let isTold = meant != nil || entry.name != nil
            let key = isTold ? "key '\(EscapedText.of(entry.key))'" : "key"
            let subject =
                name.isEmpty
                ? "unknown \(key)" : "'\(name)' has \(isTold ? "no \(key)" : "a key that it does not know")"
            problems.append(entry.problem("\(subject); \(hint ?? list)"))
        }
        entries = Dictionary(all.map { ($0.key, $0) }) { first, _ in first }
    }

    /// Whether a key is not given, but one that is spelled nearly like it.
    func isMisspelt(_ key: String) -> Bool { entries[key] == nil && misspelt.contains(key) }

    /// The entry of a key, or nil where it is not given or given as nothing.
    func given(_ key: String) -> OptionNode.Entry? {
        guard let entry = entries[key], !entry.value.isNull else { return nil }
        return entry
    }

    /// The value of a key as its reading gives it; nil where it is not given, or where it is wrong, which is reported.
    func read<Value>(
        _ key: String, problems: inout [OptionProblem], _ reading: (OptionNode) throws(OptionProblem) -> Value
    ) -> Value? {
        guard let entry = given(key) else { return nil }
        do throws(OptionProblem) {
            return try reading(entry.value)
        } catch {
            problems.append(error.within(path(to: key)))
            return nil
        }
    }

    /// Reports a key that is not supported yet, so that it is not relied on; a wrong value gets
    /// its own report. `today` says whether the value asks for nothing but what happens today.
    func refuse<Value>(
        _ key: String, but only: String? = nil, problems: inout [OptionProblem],
        _ reading: (OptionNode) throws(OptionProblem) -> Value, unless today: (Value) -> Bool = { _ in false }
    ) {
        guard let value = read(key, problems: &problems, reading), !today(value), let entry = given(key) else { return }
        let remedy = only.map { " (only '\($0)' is)" } ?? "; leave it out"
        problems.append(OptionProblem("'\(path(to: key))' is not supported yet\(remedy)", at: entry.position))
    }

    /// A key's name in messages: `ready.quiet`.
    func path(to key: String) -> String { name.isEmpty ? key : "\(name).\(key)" }
}

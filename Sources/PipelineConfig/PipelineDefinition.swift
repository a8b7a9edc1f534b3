import Files
import PipelineKit
import SystemPackage

/// Identifies what the stages of a pipeline file do to a drop.
enum PipelineDefinition {
    /// Keys of a stage that change when and how often it runs, never what it makes.
    private static let indifferent: Set<String> = ["workers", "timeout", "retry"]

    /// One stage as canonical text: its kind, then its options as they are written (the environment filled in), in the
    /// order of the alphabet. Where a relative target lies depends on the file's own folder, so that is included too.
    static func text(of kind: String, _ options: [OptionNode.Entry], targets: [PathTemplate]) -> String {
        let told = options.filter { !indifferent.contains($0.key) }
        let places = targets.map { "@\(quoted($0.fixedFolder.text))" }
        return "\(quoted(kind))\(map(told))\(places.joined())"
    }

    /// A text as 16 hexadecimal digits: FNV-1a of 64 bits (draft-eastlake-fnv). Whoever writes the pipeline file owns
    /// both sides of the comparison and gains nothing by a collision.
    static func fingerprint(of text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// What a file says, key by key. `base`: the folder where its relative paths start.
    static func declaration(of root: OptionNode, base: FilePath) -> Declaration {
        guard case .map(let entries) = root.content else { return Declaration() }
        var declaration = Declaration(keys: ["file": base.text])
        for entry in entries where !entry.value.isNull {
            switch (entry.key, entry.value.content) {
            case ("stages", .list(let stages)): declaration.stages = stages.map { text(of: $0) }
            case ("ready", .map(let keys)):
                for key in keys where !key.value.isNull { declaration.keys[key.key] = text(of: key.value) }
            default: declaration.keys[entry.key] = text(of: entry.value)
            }
        }
        return declaration
    }

    private static func text(of node: OptionNode) -> String {
        switch node.content {
        case .null: "~"
        // Quotation marks make no difference where a text is taken, and are refused where a number is.
        case .scalar(let text, _): quoted(text)
        case .list(let members): "[\(members.map { text(of: $0) }.joined(separator: ","))]"
        case .map(let entries): map(entries)
        }
    }

    /// A key set to nothing counts as not given.
    private static func map(_ entries: [OptionNode.Entry]) -> String {
        let given = entries.filter { !$0.value.isNull }.sorted { $0.key < $1.key }
        return "{\(given.map { "\(quoted($0.key)):\(text(of: $0.value))" }.joined(separator: ","))}"
    }

    /// With its length in front, so that no text can be taken for two.
    private static func quoted(_ text: String) -> String { "\(text.utf8.count)'\(text)" }
}

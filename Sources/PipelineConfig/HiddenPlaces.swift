import PipelineKit

/// Which places of a pipeline file are not shown.
struct HiddenPlaces {
    /// Leaves of its parts.
    private(set) var leaves: Set<Int> = []
    /// Leaves of which URLs are not shown as they are, and what is shown instead from their beginnings on.
    private(set) var changed: [Int: [UInt8]] = [:]
    /// Before these leaves no comment is shown.
    private(set) var gaps: Set<Int> = []
    /// Before these none that begins in the line of the leaf before.
    private(set) var lineEnds: Set<Int> = []
    /// The words that are not shown in comments, either.
    private(set) var secrets: Set<String> = []

    /// What was read, and where its leaves are and begin.
    let text: [UInt8]
    let places: [Range<Int>]
    let beginnings: [Int]
    /// What hidden places name.
    private var names: Set<String> = []

    /// `text`: that of the parts.
    init(_ parts: borrowing YAMLParts, of text: [UInt8], _ shown: ShownKeys) {
        (self.text, places, beginnings) = (text, parts.leaves, parts.beginnings)
        walk(parts.root, shown)
        // What a secret's place takes from elsewhere is a secret there, too.
        var named: [String: [YAMLParts.Part]] = [:]
        parts.root.named { named[$0, default: []].append($1) }
        var done: Set<String> = []
        while let name = names.subtracting(done).first {
            done.insert(name)
            for part in named[name] ?? [] { hide(part) }
        }
    }

    private mutating func walk(_ part: YAMLParts.Part, _ shown: ShownKeys) {
        switch (part.plain, shown) {
        case (.map(let entries), .texts): for entry in entries { walk(entry, .text) }
        case (.map(let entries), .keys(let keys, _)):
            for entry in entries {
                guard case .scalar(let key, _) = entry.key.plain, let value = keys[key] else {
                    hide(entry)
                    continue
                }
                walk(entry.value, value)
                if case .nothing = value { hideComments(of: entry) }
            }
        case (.list(let stages), .stages(let kinds)): for stage in stages { walk(stage: stage, kinds) }
        case (_, .stages(let kinds)): walk(stage: part, kinds)
        case (.list(let members), .text), (.list(let members), .keys(_, orText: false)):
            for member in members { walk(member, shown) }
        case (.scalar(let text, let leaf), .text), (.scalar(let text, let leaf), .keys(_, orText: true)):
            show(text, leaf)
        case (.list(let members), .keys(_, orText: true)): for member in members { walk(member, .text) }
        case (.alias, .text), (.alias, .texts), (.alias, .keys): break
        default: hide(part)
        }
    }

    /// A map with any keys.
    private mutating func walk(_ entry: YAMLParts.Entry, _ shown: ShownKeys) {
        guard case .scalar(let key, let leaf) = entry.key.plain else { return hide(entry) }
        show(key, leaf)
        walk(entry.value, shown)
    }

    private mutating func walk(stage: YAMLParts.Part, _ kinds: [String: ShownKeys]) {
        switch stage.plain {
        case .alias: break
        case .scalar(let kind, _) where kinds[kind] != nil: break
        default: walk(stage, .keys(kinds))
        }
    }

    private mutating func hide(_ entry: YAMLParts.Entry) {
        if case .scalar(let key, _) = entry.key.plain, Self.isPlainKey(key), !isNothing(entry.value) {
            // A key that tells nothing.
        } else {
            hide(entry.key)
        }
        hide(entry.value)
        hideComments(of: entry)
    }

    /// Beside, within and right behind it.
    private mutating func hideComments(of entry: YAMLParts.Entry) {
        gaps.formUnion(entry.leaves.dropFirst())
        gaps.insert(entry.leaves.upperBound)
    }

    private mutating func hide(_ part: YAMLParts.Part) {
        switch part {
        case .scalar(let text, let leaf):
            leaves.insert(leaf)
            note(text)
            gaps.formUnion([leaf, leaf + 1])
        case .alias(let name, let leaf):
            leaves.insert(leaf)
            names.insert(name)
            gaps.formUnion([leaf, leaf + 1])
        case .list(let members): for member in members { hide(member) }
        case .map(let entries): for entry in entries { hide(entry) }
        case .named(_, let part): hide(part)
        }
    }

    /// A secret, and what it is made of: a comment may have only a part of it.
    private mutating func note(_ secret: String) {
        let parts = secret.split { !($0.isLetter || $0.isNumber || "_-.+/=".contains($0)) }.map(String.init)
        let words = secret.split { $0.isWhitespace || $0 == ":" }.map(String.init)
        secrets.formUnion((parts + words + [secret]).filter { $0.utf8.count >= Concealed.leastBytes })
    }

    /// Shows a scalar, but for what its URLs have of secrets.
    private mutating func show(_ value: String, _ leaf: Int) {
        let written = Concealed.urls(in: Array(text[beginnings[leaf]..<places[leaf].upperBound]))
        let meant = Concealed.urls(in: Array(value.utf8))
        guard !meant.hidden.isEmpty || !written.hidden.isEmpty else { return }
        for secret in meant.hidden + written.hidden { note(String(decoding: secret, as: UTF8.self)) }
        lineEnds.insert(leaf + 1)
        // Escapes may keep one, or the rest of one, from being seen.
        if written.hidden == meant.hidden { changed[leaf] = written.shown } else { leaves.insert(leaf) }
    }

    private func isNothing(_ value: YAMLParts.Part) -> Bool {
        if case .scalar(_, let leaf) = value.plain { places[leaf].isEmpty } else { false }
    }

    private static func isPlainKey(_ key: String) -> Bool {
        (1...64).contains(key.utf8.count)
            && key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
    }
}

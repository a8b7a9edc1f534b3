/// The folders of a target and the arrows between them: one leads to another where a file in it uses a type that only
/// the other declares. Told from the text: what is declared at the top level, and every word that begins with a capital
/// letter, comments and string literals aside.
struct FolderGraph {
    /// A use that makes an arrow.
    struct Use: Hashable {
        let type: String
        let file: String
    }

    /// A target of the house.
    let target: String
    /// The folders, and where each one's arrows lead. A file at the target's top lies in the folder `(top)`.
    let arrows: [String: [String: Set<Use>]]

    init(of target: String, _ sources: [SourceFile]) {
        self.target = target
        let files = sources.filter { $0.target == target }.map { FolderFile($0) }
        var owners: [String: Set<String>] = [:]
        for file in files {
            for type in file.declared { owners[type, default: []].insert(file.folder) }
        }
        var arrows: [String: [String: Set<Use>]] = [:]
        for file in files {
            if arrows[file.folder] == nil { arrows[file.folder] = [:] }
            for type in file.used {
                guard let owner = owners[type], owner.count == 1, let end = owner.first, end != file.folder else {
                    continue
                }
                arrows[file.folder, default: [:]][end, default: []].insert(Use(type: type, file: file.path))
            }
        }
        self.arrows = arrows
    }

    /// Folders by layer: those of one use only those of the ones before. What is left lies in circles, or leads there.
    private var sorted: (layers: [[String]], rest: Set<String>) {
        var (layers, rest) = ([[String]](), Set(arrows.keys))
        while true {
            let free = rest.filter { rest.isDisjoint(with: ends(of: $0)) }
            if free.isEmpty { return (layers, rest) }
            layers.append(free.sorted())
            rest.subtract(free)
        }
    }

    private func ends(of folder: String) -> Set<String> { Set(arrows[folder, default: [:]].keys) }

    /// What is wrong: the arrows of circles, each with a use that makes it one.
    var circles: [String] {
        let rest = sorted.rest
        return rest.sorted().flatMap { folder in
            arrows[folder, default: [:]].filter { rest.contains($0.key) }.sorted { $0.key < $1.key }.map { end, uses in
                let use = uses.min { ($0.file, $0.type) < ($1.file, $1.type) }
                let example = use.map { " by '\($0.type)' in \($0.file)" } ?? ""
                return "\(target): \(folder) → \(end)\(example) is part of a circle, or leads to one"
            }
        }
    }

    /// The target as `Sources/README.md` draws it: what uses the most first.
    var picture: [String] {
        let folders = sorted.layers.reversed().flatMap { $0 }
        guard folders.count > 1 else { return ["\(target)"] }
        let width = folders.map(\.count).max() ?? 0
        return ["\(target)"]
            + folders.map { folder in
                let ends = ends(of: folder).sorted().joined(separator: ", ")
                let name = folder.padding(to: ends.isEmpty ? folder.count : width)
                return "    \(name)" + (ends.isEmpty ? "" : " → \(ends)")
            }
    }
}

/// A file of a target: what it declares, and what it uses.
private struct FolderFile {
    let path: String
    let folder: String
    let declared: Set<String>
    let used: Set<String>

    init(_ file: SourceFile) {
        path = file.path
        let parts = file.path.split(separator: "/")
        folder = parts.count > 3 ? String(parts[2]) : "(top)"
        declared = Set(file.declarations.filter { !$0.isPrivate }.map(\.name))
        used = file.lines.reduce(into: []) { used, line in
            for word in HouseRules.codePart(of: line).utf8.split(whereSeparator: { !Self.isOfName($0) })
            where word.first.map({ UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }) == true {
                used.insert(String(Substring(word)))
            }
        }
    }
}

extension FolderFile {
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

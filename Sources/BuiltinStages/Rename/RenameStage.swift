import Files
import Glibc
package import PipelineKit
import SystemPackage

/// Gives the payload's files new names.
package struct RenameStage: OwnStage {
    private static let match = StageOption<NamePattern?>(
        "match",
        "a regular expression (POSIX extended) on the name: only files that match are renamed, and {1} to {9} "
            + "stand for its groups", takes: "a regular expression", default: .some(nil), shown: "every file"
    ) { (node, _) throws(OptionProblem) in try NamePattern(node) }

    private static let to = StageOption<Template>(
        "to",
        "the new name, with placeholders for the file's own parts; {drop} is the drop's stem; slashes put the files "
            + "of a folder into subfolders",
        takes: "a name, with placeholders", default: nil, shown: "required"
    ) { (node, context) throws(OptionProblem) in
        let text = try node.string()
        guard !text.hasPrefix("/"), !text.split(separator: "/").contains("..") else {
            throw node.problem("'\(text)' leads out of the payload; begin with a name instead")
        }
        let facts = context.facts.union((1...9).map(String.init) + ["drop"])
        return try node.template(
            for: .path,
            in: OptionContext(
                base: context.base, facts: facts, forgotten: context.forgotten, environment: context.environment))
    }

    package static let descriptor = StageDescriptor(
        kind: "rename",
        summary: "Renames the payload's files, by a template or a regular expression.",
        options: [to.erased, match.erased],
        effects: [.replacesPayload],
        example: #"rename: { match: "^IMG_([0-9]+)", to: "{date}-{1}.{ext}" }"#)

    private let pattern: NamePattern?
    private let to: Template

    /// Names are no part of what was found out.
    package var keepsFacts: Bool { true }

    package init(options: StageOptions) throws(OptionProblem) {
        pattern = try options.value(Self.match)
        to = try options.value(Self.to)
        if let pattern, let group = ((pattern.groupCount + 1)..<10).first(where: { to.source.contains("{\($0)}") }) {
            throw options.problem("'to' uses the group {\(group)}, but 'match' has \(pattern.groupCount)")
        }
        if pattern == nil, (1...9).contains(where: { to.source.contains("{\($0)}") }) {
            throw options.problem("'to' uses a group, but there is no 'match' with groups")
        }
    }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        let tree = try Failure.onIOError { () throws(IOError) in try context.tree(of: payload) }
        let matcher = pattern?.matcher()
        var names: [FilePath] = []
        var taken: [FilePath: TreeFile] = [:]
        for file in tree.files {
            try context.checkCancelled()
            let path = try newPath(of: file, payload, matcher, context)
            if let other = taken.updateValue(file, forKey: path) { throw Self.taken(path, other, file) }
            names.append(path)
        }
        try checkPlaces(taken, links: Set(tree.links))
        if names == tree.files.map(\.relative) { return payload }
        return try build(payload, tree, names, context)
    }

    /// A path that is a file's or a link's can be no other's, nor the folder of another.
    private func checkPlaces(_ taken: [FilePath: TreeFile], links: Set<FilePath>) throws(Failure) {
        var free: Set<FilePath> = []
        for (path, file) in taken {
            if links.contains(path) { throw Self.taken(path, file, file) }
            var above = path.removingLastComponent()
            while !above.isEmpty, free.insert(above).inserted {
                if let other = taken[above] { throw Self.taken(above, other, file) }
                if links.contains(above) { throw Self.taken(above, file, file) }
                above.removeLastComponent()
            }
        }
        for link in links {
            var above = link.removingLastComponent()
            while !above.isEmpty, free.insert(above).inserted {
                if let other = taken[above] { throw Self.taken(above, other, other) }
                above.removeLastComponent()
            }
        }
    }

    private func build(
        _ payload: Payload, _ tree: FileTree, _ names: [FilePath], _ context: StageContext
    ) throws(Failure) -> Payload {
        var renamed = try Rebuilding(payload, isDrop: payload.isDrop, in: context)
        let files = Set(names)
        for folder in tree.folders where !files.contains(folder) { try renamed.makeFolder(folder, like: folder) }
        for (file, name) in zip(tree.files, names) { try renamed.put(file.relative, as: name) }
        for link in tree.links { try renamed.put(link, as: link) }
        try renamed.finish()
        // A dropped file that has another name is the dropped file still.
        var made = payload
        made.root = renamed.root
        if case .file = payload.shape, let name = names.first?.lastName { made.shape = .file(name) }
        return made
    }

    private func newPath(
        of file: TreeFile, _ payload: Payload, _ matcher: NameMatcher?, _ context: StageContext
    ) throws(Failure) -> FilePath {
        guard let name = file.relative.lastName else { return file.relative }
        var values = context.job.values
        values.name = name
        values.facts["drop"] = context.job.values.name.stem
        if let matcher {
            guard let groups = try matcher.groups(in: name) else { return file.relative }
            for (index, group) in groups.enumerated() { values.facts["\(index)"] = group }
        }
        let new: FilePath
        do throws(TemplateProblem) {
            new = FilePath(bytes: try to.render(values)).lexicallyNormalized()
        } catch {
            throw .file(
                "rename.name", "The new name of '\(file.relative.text)' cannot be rendered: \(error.message).",
                remedy: "Change 'to' in the stage 'rename', or the file's name.")
        }
        guard !new.isAbsolute, !new.isEmpty, new.components.allSatisfy({ ($0.kind == .regular) && $0.fits }) else {
            throw .file(
                "rename.name", "'\(new.text)' is not a valid name for '\(file.relative.text)'.",
                remedy: "Change 'to' in the stage 'rename', or the file's name.")
        }
        if new.components.count > 1, case .file = payload.shape {
            throw .file(
                "rename.folder", "'\(file.relative.text)' is a single file, and '\(new.text)' puts it into a folder.",
                remedy: "Put the folders in 'to' of the stage 'move'.")
        }
        return file.relative.removingLastComponent().pushing(new)
    }

    private static func taken(_ path: FilePath, _ one: TreeFile, _ other: TreeFile) -> Failure {
        .file(
            "rename.taken", "'\(one.relative.text)' and '\(other.relative.text)' would both be named '\(path.text)'.",
            remedy: "Include what distinguishes them in 'to' of the stage 'rename', such as {stem}.")
    }
}

extension FilePath.Component {
    fileprivate var fits: Bool { FileName(self).map { $0.bytes.count <= FileName.longest } ?? false }
}

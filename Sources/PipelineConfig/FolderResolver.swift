import Files
import SystemPackage

/// Resolves folders, each once.
final class FolderResolver {
    private var found: [FilePath: ResolvedFolder] = [:]
    private let mayLook: Lookout.Permit

    /// `known`: folders that are not looked at, by their paths.
    init(
        knowing known: [(path: FilePath, folder: ResolvedFolder)] = [],
        _ mayLook: Lookout.Permit = .always
    ) {
        self.mayLook = mayLook
        for (path, folder) in known { found[Self.key(path)] = folder }
    }

    func callAsFunction(_ folder: FilePath) -> ResolvedFolder {
        let key = Self.key(folder)
        if let known = found[key] { return known }
        let resolved = mayLook(folder) ? ResolvedFolder(folder) : ResolvedFolder(unseen: folder)
        found[key] = resolved
        return resolved
    }

    private static func key(_ path: FilePath) -> FilePath { path.absolute.lexicallyNormalized() }
}

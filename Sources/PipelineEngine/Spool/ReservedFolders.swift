import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage

/// Folders that nothing is published into: the engine's own, and inboxes. A sender's name could lead there
/// through a placeholder, in a loop. They are identified by inode and not by their paths, which links and
/// mounts can multiply.
final class ReservedFolders: Sendable {
    struct Reserved: Sendable {
        /// What it is, after `into`: `the inbox of 'scans'`.
        let what: String
        let path: FilePath
        var kind = Kind.ours
    }

    enum Kind: Sendable {
        /// Nothing is published there, nor below.
        case ours
        /// The fixed part of another pipeline's target may lead there: that is how pipelines are chained.
        case inbox
        /// The fixed part of any target may lead there, but no sender's name may: it could create a pipeline file.
        case pipelines
    }

    /// Folders that are there, and those that contain them.
    fileprivate struct Found: Sendable {
        var folders: [(FileIdentity, Reserved)] = []
        var holders: [FileIdentity: Reserved] = [:]
    }

    /// What is there of a pipeline.
    struct Seen: Sendable {
        fileprivate let own: Found
        /// One for all pipelines in it, keyed by its path, which cannot be a pipeline's name.
        fileprivate let source: (owner: String, found: Found)

        /// Looks it up. Its file system may not answer, and nobody else must wait for it.
        init(_ pipeline: Pipeline) {
            func reserved(_ what: String, _ path: FilePath, _ kind: Kind = .ours) -> Reserved {
                Reserved(what: "\(what) of '\(pipeline.name)'", path: path, kind: kind)
            }
            let files = pipeline.source.absolute.removingLastComponent()
            source = (
                files.string, Found([Reserved(what: "the folder of pipeline files", path: files, kind: .pipelines)])
            )
            var folders = [reserved("the folder 'failed'", pipeline.failed)]
            if case .folder(let processed) = pipeline.processed {
                folders.append(reserved("the folder 'processed'", processed))
            }
            do throws(IOError) {
                folders.append(reserved("the work folder", try WorkFolder.path(for: pipeline)))
            } catch {
                // Without its inbox it has none, and nothing can lead there.
            }
            // The folder of one pipeline's originals may be another's inbox: that is a chain, too.
            own = Found(folders + [reserved("the inbox", pipeline.inbox, .inbox)])
        }
    }

    /// A folder, as it is seen from a pipeline.
    private struct View: Hashable {
        let folder: FileIdentity
        let inbox: FilePath
    }

    private struct State {
        var folders: [FileIdentity: [String: Reserved]] = [:]
        var identities: [String: [FileIdentity]] = [:]
        /// The folders that contain them, by pipeline.
        var holders: [String: [FileIdentity: Reserved]] = [:]
        /// Folders that are known not to be, or be inside, any of them; and since when.
        var cleared: [View: MonotonicTime] = [:]
    }

    private let state = Mutex(State())

    /// How long a folder that was moved into another may go unnoticed.
    private static let memory = Duration.seconds(1)

    /// The existing ones of these pipelines, and the state folder.
    init(of pipelines: [Pipeline] = [], state folder: FilePath? = nil) {
        if let folder { note(state: folder) }
        for pipeline in pipelines { note(pipeline, of: pipeline.name) }
    }

    func note(state folder: FilePath) { note(Found([Reserved(what: "the state folder", path: folder)]), of: "") }

    /// A pipeline is not loaded any more, or has left a work folder.
    func forget(_ owner: String) { note(Found(), of: owner) }

    /// What is reserved for one is reserved for another from now on. Looks at nothing.
    func pass(from old: String, to new: String) {
        guard old != new else { return }
        forget(new)
        state.withLock { state in
            let identities = state.identities.removeValue(forKey: old) ?? []
            for identity in identities {
                if let folder = state.folders[identity]?.removeValue(forKey: old) {
                    state.folders[identity]?[new] = folder
                }
            }
            state.identities[new] = identities
            state.holders[new] = state.holders.removeValue(forKey: old)
        }
    }

    /// Looks up the present folders of a pipeline, on a queue of that pipeline.
    func note(_ pipeline: Pipeline, of owner: String) { note(Seen(pipeline), of: owner) }

    func note(_ seen: Seen, of owner: String) {
        note(seen.source.found, of: seen.source.owner)
        note(seen.own, of: owner)
    }

    private func note(_ found: Found, of owner: String) {
        state.withLock { state in
            for identity in state.identities[owner] ?? [] {
                state.folders[identity]?[owner] = nil
                if state.folders[identity]?.isEmpty ?? false { state.folders[identity] = nil }
            }
            // If one folder has several roles, the last one counts.
            for (identity, folder) in found.folders { state.folders[identity, default: [:]][owner] = folder }
            state.identities[owner] = found.folders.map(\.0)
            state.holders[owner] = found.holders
        }
    }

    /// The reserved folder with this identity, if any.
    func reserved(_ folder: FileIdentity) -> Reserved? { found(folder).first }

    /// The same, or one inside the folder: replacing the folder would replace both.
    func reserved(orHoldBy folder: FileIdentity) -> Reserved? {
        found(folder).first ?? state.withLock { $0.holders.values.lazy.compactMap { $0[folder] }.first }
    }

    private func found(_ folder: FileIdentity) -> [Reserved] {
        state.withLock { $0.folders[folder].map { Array($0.values) } ?? [] }
    }

    /// The reserved folder that the fixed part of a target is, or lies in. `own`: the pipeline's inbox, where a chain
    /// would be a circle.
    func reserved(holding folder: borrowing OpenFile, own inbox: FilePath) throws(IOError) -> Reserved? {
        var next = FileIdentity(try folder.status())
        let (view, now) = (View(folder: next, inbox: inbox), MonotonicTime.now())
        if let since = state.withLock({ $0.cleared[view] }), now - since < Self.memory { return nil }
        var above = try OpenFile.openParent(of: folder)
        while true {
            let found = found(next).filter { $0.kind != .pipelines }
            let isInbox = found.contains { $0.kind == .inbox }
            if let own = found.first(where: { $0.path == inbox || !isInbox }) { return own }
            let parent = FileIdentity(try above.status())
            if parent == next { break }
            next = parent
            above = try OpenFile.openParent(of: above)
        }
        state.withLock { state in
            if state.cleared.count >= Self.mostCleared { state.cleared = [:] }
            state.cleared[view] = now
        }
        return nil
    }

    private static let mostCleared = 1000
}

extension ReservedFolders.Found {
    fileprivate init(_ folders: [ReservedFolders.Reserved]) {
        self.folders = folders.compactMap { folder in
            FileIdentity.of(folder.path, followingLinks: true).map { ($0, folder) }
        }
        for (_, folder) in self.folders {
            for holder in Self.above(folder.path) where holders[holder] == nil { holders[holder] = folder }
        }
    }

    /// All folders on the way to one, from the one above it up to `/`. One that cannot be opened is no obstacle.
    private static func above(_ path: FilePath) -> [FileIdentity] {
        var found: [FileIdentity] = []
        do throws(IOError) {
            var folder = try OpenFile.open(path, OpenFile.pathOnly | O_DIRECTORY)
            var last = FileIdentity(try folder.status())
            while true {
                folder = try OpenFile.openParent(of: folder)
                let next = FileIdentity(try folder.status())
                if next == last { return found }
                found.append(next)
                last = next
            }
        } catch {
            return found
        }
    }
}

extension Failure {
    /// An output would be published where only the engine or senders may put files.
    static func reserved(_ target: FilePath, _ reserved: ReservedFolders.Reserved) -> Failure {
        .file(
            "publish.reserved",
            "It would be published as '\(target.text)', into \(reserved.what) ('\(reserved.path.text)').",
            remedy: "Send it again under another name, or start the stage's `to` with a separate folder.")
    }
}

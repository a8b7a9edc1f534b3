import Glibc
import PipelineKit
import Synchronization
import SystemPackage

/// Folders that nothing is published into: the engine's own, and inboxes. A name that a sender chose may lead there
/// through a placeholder, round and round. They are known by what they are and not by their paths, which links and
/// mounts can give others of.
final class ReservedFolders: Sendable {
    /// One of them.
    struct Reserved: Sendable {
        /// What it is, after `into`: `the inbox of 'scans'`.
        let what: String
        let path: FilePath
        /// Whether the fixed part of a target may lead there: that is how pipelines are chained.
        let isChainable: Bool
    }

    private struct State {
        var folders: [FileIdentity: Reserved] = [:]
        /// Folders that are none of them and lie in none, with all that leads to them.
        var cleared: Set<FileIdentity> = []
        var isKnownSince: MonotonicTime?
    }

    private let pipelines: [Pipeline]
    private let stateFolder: FilePath?
    private let state = Mutex(State())

    /// Folders that are removed and made anew are other ones; so long may that stay unseen.
    private static let memory = Duration.seconds(1)

    /// Those of these pipelines and of the state folder.
    init(of pipelines: [Pipeline], state: FilePath?) {
        self.pipelines = pipelines
        stateFolder = state
    }

    /// All that there are now.
    private func all() -> [Reserved] {
        var all = stateFolder.map { [Reserved(what: "the state folder", path: $0, isChainable: false)] } ?? []
        for pipeline in pipelines {
            func add(_ what: String, _ path: FilePath, isChainable: Bool = false) {
                all.append(Reserved(what: "\(what) of '\(pipeline.name)'", path: path, isChainable: isChainable))
            }
            add("the inbox", pipeline.inbox, isChainable: true)
            add("the folder 'failed'", pipeline.failed)
            if case .folder(let processed) = pipeline.processed { add("the folder 'processed'", processed) }
            do throws(IOError) {
                let work = try WorkFolder.path(for: pipeline)
                add("the work folder", work)
            } catch {
                // Without its inbox it has none, and nothing can lead there.
            }
        }
        return all
    }

    /// The reserved folder that a folder is, which a placeholder leads to.
    func reserved(_ folder: FileIdentity) -> Reserved? { known { $0.folders[folder] } }

    /// The reserved folder that the fixed part of a target is, or lies in. `own`: the pipeline's inbox, where a chain
    /// would be a circle.
    func reserved(holding folder: borrowing OpenFile, own inbox: FilePath) throws(IOError) -> Reserved? {
        var next = FileIdentity(try folder.status())
        let first = next
        if known({ $0.cleared.contains(first) }) { return nil }
        var above = try OpenFile.openParent(of: folder)
        while true {
            if let found = known({ $0.folders[next] }), !found.isChainable || found.path == inbox { return found }
            let parent = FileIdentity(try above.status())
            if parent == next { break }
            next = parent
            above = try OpenFile.openParent(of: above)
        }
        known { _ = $0.cleared.insert(first) }
        return nil
    }

    private func known<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            let now = MonotonicTime.now()
            if state.isKnownSince.map({ now - $0 >= Self.memory }) ?? true {
                state.folders = [:]
                state.cleared = []
                // Where one's originals end another one may begin: that is a chain, too.
                for folder in all().sorted(by: { !$0.isChainable && $1.isChainable }) {
                    if let identity = FileIdentity.of(folder.path, followingLinks: true) {
                        state.folders[identity] = folder
                    }
                }
                state.isKnownSince = now
            }
            return body(&state)
        }
    }
}

extension StageFailure {
    /// What a stage made would be published where only the engine, or a sender, puts things.
    static func reserved(_ target: FilePath, _ reserved: ReservedFolders.Reserved) -> StageFailure {
        .file(
            "publish.reserved",
            "It would be published as '\(target.text)', into \(reserved.what) ('\(reserved.path.text)').",
            remedy: "Send it again under another name, or begin the stage's `to` with a folder of its own.")
    }
}

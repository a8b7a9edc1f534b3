import Files
import FolderWatch
import Glibc
import PipelineEngine
package import PipelineKit
import Readiness
package import SystemPackage

/// Tries, in every folder that pipelines use, what a daemon would do there. Nothing stays behind, nothing is made, and
/// a daemon that runs meanwhile sees at most a hidden name come and go.
package struct Examination {
    private let mounts = MountTable.now()
    private let running: Set<String>
    private let isStopped: () -> Bool

    /// `running`: the pipelines of a daemon that runs. `isStopped` is asked between two folders: whether to leave it at
    /// what was tried so far.
    package init(running: Set<String> = [], isStopped: @escaping () -> Bool = { false }) {
        self.running = running
        self.isStopped = isStopped
    }

    /// What holds for all pipelines: the user's limits, and the folder for the journal.
    /// `trusted`: folders above that one which are accepted as they are.
    package func surroundings(state: FilePath, watches: Int, trusting trusted: [FilePath] = []) -> [ExaminedPlace] {
        let machine = ExaminedPlace(
            role: "machine", path: nil, findings: InotifyLimits.findings(needed: watches))
        let state = state.absolute
        let examiner = FolderCheck(state, mounts: mounts)
        var journal = ExaminedPlace(role: "state", path: state, findings: examiner.basics(minFree: nil))
        let space = examiner.space(ByteSize(bytes: 0))
        if space.grade == .problem { journal.findings.append(space) }
        if case .network(let kind) = FileSystemKind.of(examiner.existing) {
            journal.findings.append(
                .problem(
                    .journal, "the journal's locks and shared memory are not reliable on \(kind)",
                    "Name a folder on a local disk with --state-dir"))
        } else {
            journal.findings.append(.good(.journal, "on a local file system, as required"))
        }
        journal.findings.append(contentsOf: PrivateState.findings(on: state, trusting: trusted))
        return [machine, journal]
    }

    /// How many folders a daemon watches for a pipeline: its inbox and the searched ones in it, as far as they
    /// may be.
    package static func watches(of pipeline: Pipeline) -> Int {
        do throws(IOError) {
            let inbox = try OpenInbox(pipeline.inbox)
            var count = 0
            var pending = [InboxFolder.top]
            while let folder = pending.popLast() {
                count += 1
                pending += inside(folder, inbox, pipeline.match)
            }
            return count
        } catch {
            // The one that the daemon makes.
            return 1
        }
    }

    private static func inside(_ folder: InboxFolder, _ inbox: OpenInbox, _ match: MatchRule) -> [InboxFolder] {
        do throws(IOError) {
            var inside: [InboxFolder] = []
            try Folder.forEachEntry(of: try inbox.open(folder).file) { (name, kind) throws(IOError) in
                if kind == .folder, match.enters(name, in: folder) { inside.append(folder.appending(name)) }
            }
            return inside
        } catch {
            return []
        }
    }

    /// A pipeline's folders.
    package func pipeline(_ pipeline: Pipeline) -> ExaminedPipeline {
        var places: [ExaminedPlace] = []
        func add(_ role: String, _ path: FilePath, _ findings: (FolderCheck) -> [Finding]) {
            guard !isStopped() else { return }
            let examiner = FolderCheck(path, mounts: mounts)
            places.append(ExaminedPlace(role: role, path: path, findings: findings(examiner)))
        }
        let own = OwnFolders(of: pipeline)
        let inbox = FolderCheck(pipeline.inbox, mounts: mounts)
        let work = workFolder(of: pipeline)
        add("inbox", pipeline.inbox) { examiner in
            // What a link of a sender's leads to is not even tried.
            guard own.inboxFindings.isEmpty else { return own.inboxFindings }
            return gone(pipeline.inbox, pipeline) + examiner.basics(minFree: nil) + examiner.watching()
                + [AttributeMemory.finding(on: examiner.existing, pipeline.ready, mounts), ownership(pipeline, work)]
                .compactMap { $0 }
        }
        guard let work else { return ExaminedPipeline(name: pipeline.name, places: places) }
        let bench = bench(in: work)
        add("work", work) { examiner in
            if let stranger = stranger(work) { return [stranger] }
            return [examiner.fileSystem(), rights(examiner, bench)] + own.findings(on: ("work", work))
                + [examiner.space(pipeline.minFree)]
                + (own.inboxFindings.isEmpty ? [RenameCheck.claim(from: inbox.existing, to: bench)] : [])
        }
        for (role, path) in OwnFolders.targets(of: pipeline) {
            add(role, path) { examiner in
                // What is published to is made when it is needed.
                var findings = role.contains(".") ? [] : gone(path, pipeline)
                findings += examiner.basics(minFree: pipeline.minFree)
                let trust = own.findings(on: (role, path))
                guard stranger(work) == nil, !findings.contains(where: { $0.check == .rights && $0.grade == .problem })
                else { return findings + trust }
                findings.append(RenameCheck.settlement(from: bench, to: examiner.existing))
                return findings + trust
            }
        }
        for stage in pipeline.allStages where !isStopped() {
            let findings = withBench(in: stranger(work) == nil ? bench : nil) { stage.stage.examine(in: $0) }
            guard !findings.isEmpty else { continue }
            places.append(ExaminedPlace(role: "stage \(stage.kind)", path: nil, findings: findings))
        }
        return ExaminedPipeline(name: pipeline.name, places: places)
    }

    /// What a daemon made at its start, and does not make again.
    private func gone(_ path: FilePath, _ pipeline: Pipeline) -> [Finding] {
        guard running.contains(pipeline.name), Folder.kind(of: path, followingLinks: true) == nil else { return [] }
        return [
            .problem(
                .daemon, "is missing; the running daemon waits for it to come back",
                "Mount it, or recreate it: install -d -o \(CurrentUser.name) '\(path.text)'")
        ]
    }

    /// An empty folder for what a stage tries, as long as it does.
    private func withBench(in folder: FilePath?, _ body: (FilePath?) -> [Finding]) -> [Finding] {
        guard let bench = folder.map({ Canary.path(in: $0) }) else { return body(nil) }
        do throws(IOError) {
            try Folder.makeOwn(bench, mode: 0o700)
        } catch {
            // `rights` reports why nothing can be created there.
            return body(nil)
        }
        let findings = body(bench)
        do throws(IOError) { try Folder.remove(bench) } catch {
            return findings + [.note(.rights, "the check left '\(bench.text)' behind: \(error)", "Remove it")]
        }
        return findings
    }

    // MARK: The work folder

    /// Where it is, or will be; nil if the inbox's mount is unknown, which the inbox's findings report.
    private func workFolder(of pipeline: Pipeline) -> FilePath? {
        do throws(IOError) {
            return try WorkFolder.path(for: pipeline)
        } catch {
            return pipeline.inbox.removingLastComponent().appending(".dropmill").appending(pipeline.name)
        }
    }

    /// Where canaries may be put: beside the notes of an existing work folder, since a starting daemon takes other
    /// names in the work folder itself for another user's.
    private func bench(in work: FilePath) -> FilePath {
        FolderCheck(work.appending("looks"), mounts: mounts).existing
    }

    /// Only its user may enter the work folder, so another user cannot test it.
    private func stranger(_ work: FilePath) -> Finding? {
        guard geteuid() != 0, let owner = FileStatus.of(work, followingLinks: true)?.st_uid, owner != geteuid() else {
            return nil
        }
        return .note(
            .user, "belongs to \(AccountName.user(owner)), so \(CurrentUser.name) cannot test it",
            "Run this as the daemon's own user")
    }

    /// How other users' drops are taken over; that happens in the work folder.
    private func ownership(_ pipeline: Pipeline, _ work: FilePath?) -> Finding? {
        guard let work, stranger(work) == nil else { return nil }
        return OwnershipCheck.finding(pipeline.ownership, in: bench(in: work))
    }

    private func rights(_ examiner: FolderCheck, _ bench: FilePath) -> Finding {
        FolderCheck(Folder.kind(of: examiner.folder) == nil ? examiner.folder : bench, mounts: mounts).rights()
    }
}

import Files
import Glibc
package import PipelineKit
package import SystemPackage

/// The folders of a pipeline that nobody but root and our user may exchange for others: work, processed, failed and
/// those of outputs. The inbox is not among them: it is the senders'. But no link of theirs may lead to it.
package struct OwnFolders: Sendable {
    /// One of them.
    package typealias Own = (role: String, path: FilePath)

    private let pipeline: Pipeline
    private let trust: FolderTrust

    package init(of pipeline: Pipeline, as user: UInt32 = geteuid()) {
        self.pipeline = pipeline
        trust = FolderTrust(accepting: pipeline.trust, as: user)
    }

    /// Where results and originals go, as far as it is known before there is a drop.
    package static func targets(of pipeline: Pipeline) -> [Own] {
        var targets: [Own] = []
        if case .folder(let processed) = pipeline.processed { targets.append(("processed", processed)) }
        targets.append(("failed", pipeline.failed))
        for stage in pipeline.stages {
            for (option, template) in stage.targets.sorted(by: { $0.key < $1.key }) {
                targets.append(("\(stage.kind).\(option)", template.fixedFolder))
            }
        }
        return targets
    }

    /// Makes the inbox where it is missing.
    package func makeInbox() throws(FolderError) {
        do throws(IOError) { try Folder.make(pipeline.inbox) } catch { throw unmade(error) }
    }

    private func unmade(_ error: IOError) -> FolderError {
        FolderError(
            pipeline.source.text, error,
            remedy: "create the folder, or give Dropmill's user the right to create it")
    }

    /// Refuses the start where one of them, or a folder on the way to it, could be exchanged by another user; makes
    /// `processed` and `failed`, and what another user could otherwise make first. The inbox must exist.
    package func prepare() throws(FolderError) {
        try refuseInbox()
        let targets = Self.targets(of: pipeline)
        // Before anything is made, and again for what was missing.
        let before = try ways(to: targets)
        try refuseWork()
        for (target, way) in zip(targets, before) {
            let isOutput = target.role.contains(".")
            // An output is made once something goes there.
            if isOutput, !way.mayBeForestalled { continue }
            do throws(IOError) {
                try Folder.makeOwn(target.path)
            } catch {
                throw unmade(error)
            }
        }
        _ = try ways(to: targets)
    }

    /// Refuses the start where the work folder could be exchanged.
    package func refuseWork() throws(FolderError) {
        let work: FilePath
        do throws(IOError) {
            work = try WorkFolder.path(for: pipeline)
        } catch {
            // Opening the work folder tells.
            return
        }
        _ = try ways(to: [("work", work)])
    }

    /// Refuses the start where a sender could have the inbox be any folder. `OpenInbox` follows no such link later on.
    private func refuseInbox() throws(FolderError) {
        guard let link = inboxFaults.first else { return }
        throw FolderError(
            kind: .configuration,
            message: "\(pipeline.source.text): the inbox cannot be trusted: \(link.fact); \(link.remedy)")
    }

    /// Links of others on the way to the inbox.
    package var inboxFaults: [(fact: String, remedy: String)] {
        FolderTrust(as: trust.user).way(to: pipeline.inbox).faults.filter { $0.kind == .symbolicLink }.map {
            ($0.fact, $0.remedy(for: AccountName.user(trust.user)))
        }
    }

    /// Everything that is at fault on the way to one of them.
    package func faults(on own: Own) -> [(fact: String, remedy: String)] {
        trust.way(to: own.path).faults.map { ($0.fact, remedy(of: $0, own.role)) }
    }

    private func ways(to folders: [Own]) throws(FolderError) -> [FolderTrust.Way] {
        var ways: [FolderTrust.Way] = []
        for own in folders {
            let way = trust.way(to: own.path)
            if let fault = way.faults.first {
                throw FolderError(
                    kind: .configuration,
                    message: "\(pipeline.source.text): the folder of '\(own.role)' cannot be trusted: \(fault.fact); "
                        + remedy(of: fault, own.role))
            }
            ways.append(way)
        }
        return ways
    }

    private func remedy(of fault: FolderTrust.Fault, _ role: String) -> String {
        let user = AccountName.user(trust.user)
        let accept = "; or accept it: `trust: [\"\(fault.path.text)\"]` in the pipeline"
        guard role == "work", pipeline.work == nil else { return fault.remedy(for: user) + accept }
        guard holdsWork(fault) else {
            return fault.remedy(for: user, orElse: "set 'work:' to a folder owned by \(user) on the inbox's mount")
                + accept
        }
        // The inbox is a mount point, so there is no other place for the work folder.
        return
            "mount its file system one level higher, with the inbox as a folder in it; or give the inbox to \(user) "
            + "and let users remove only their own files (chmod +t '\(fault.path.text)')" + accept
    }

    /// Whether it is the inbox that is at fault, because the work folder lies in it.
    private func holdsWork(_ fault: FolderTrust.Fault) -> Bool {
        !trust.way(to: pipeline.inbox.absolute.removingLastComponent()).faults.contains(fault)
            && trust.way(to: pipeline.inbox).faults.contains(fault)
    }
}

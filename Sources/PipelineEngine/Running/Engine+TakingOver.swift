@preconcurrency import Dispatch
import Files
import Journal
import PipelineKit

/// How it shares its journal with other nodes.
extension Engine {
    /// Begins to look after the others, where there may be any: again and again, and at once when one of them says that
    /// there is something to see.
    func watchNodes(every interval: Duration = Takeover.interval) {
        guard let opened, let shared = opened.shared else { return }
        let takeover = Takeover(shared, opened.writer, for: self, every: interval)
        let nodeBell = Bell(on: takeover.executor.queue) { @Sendable [weak takeover] in
            takeover?.assumeIsolated { $0.look() }
        }
        let orderBell = Bell(on: holding) { @Sendable [weak self] in self?.followOrders() }
        shared.hear { @Sendable hint in
            switch hint {
            case .nodes: nodeBell.ring()
            case .holds: orderBell.ring()
            case .requests: break
            }
        }
        (self.takeover, self.orderBell) = (takeover, orderBell)
        takeover.start()
    }

    /// Goes on with what another node has left and is in this work folder by now.
    nonisolated func takeIn(_ findings: Recovery.Findings, in work: WorkFolder) {
        enqueue { engine in
            // Where nobody has it any more the journal says so, and others take it.
            guard !engine.isStopping,
                let runner = (engine.runners + engine.tails).first(where: { $0.intake.spool.work === work })
            else { return }
            runner.takeIn(findings)
            engine.finishIfDone()
        }
    }

    /// Has what a dead node knew of drops that it may have died of written down here, and returns when it is.
    nonisolated func suspect(_ found: [LookNote.Subject: Int], of node: String, in work: WorkFolder) {
        guard let intake = sync({ $0.runners.first { $0.intake.spool.work === work }?.intake }) else { return }
        let isDone = DispatchSemaphore(value: 0)
        intake.suspect(found, of: node) { @Sendable in isDone.signal() }
        isDone.wait()
    }

    nonisolated func warn(of pipeline: String?, _ message: String) {
        observer(.warning(pipeline: pipeline, message: message))
    }

    /// Other nodes have marked this process dead and take over its jobs: it has to restart as a new node.
    nonisolated func expel() {
        observer(
            .trouble(
                message: "this node did not renew its lease in time, and other nodes take over its jobs; it restarts "
                    + "as a new node. If that happens again, check the database, the network, and whether this host "
                    + "was suspended or overloaded"))
        configuration.expelled()
    }
}

nonisolated extension Engine {
    /// Has a shared journal know the pipeline's folders on this host, and refuses a share that is not the others'.
    func share(_ pipeline: Pipeline, _ work: WorkFolder, _ state: OpenedState) throws {
        guard let shared = state.shared, work.incarnation != nil else { return }
        // Who copies and sleeps would go on with that when others have the job.
        if let far = LaneRule.farFolder(of: pipeline) {
            throw FolderError(
                kind: .configuration,
                message: "\(pipeline.source.text): \(far), which does not work with a shared journal: what is copied "
                    + "could be published by two nodes; have both on one mount, or give this pipeline a journal of its "
                    + "own")
        }
        try know(pipeline, shared)
        let path = try WorkFolder.path(for: pipeline)
        try ShareToken.check(in: path, of: pipeline) { try shared.share(of: pipeline.name, proposing: $0) }
    }

    /// Says where the pipeline's folders are on this host.
    func know(_ pipeline: Pipeline, _ shared: any SharedJournal) throws(IOError) {
        var roots = [
            (name: PathRoots.inbox, path: pipeline.inbox), (name: "work", path: try WorkFolder.path(for: pipeline)),
        ]
        for target in OwnFolders.targets(of: pipeline) {
            let same = roots.count { $0.name == target.role || $0.name.hasPrefix("\(target.role) ") }
            roots.append((name: same == 0 ? target.role : "\(target.role) \(same + 1)", path: target.path))
        }
        shared.know(PathRoots(roots), of: pipeline.name)
    }
}

extension Failure {
    /// Others may take over what this node has.
    static let journalAway = Failure(
        .environment, code: "journal.away",
        summary: "The journal that the nodes share has not answered, so that others may take over what this one has.",
        remedy: "Nothing is claimed or published until it does: check the database, and the way to it.")
}

import Files
import Journal
import PipelineKit
import SystemPackage

/// Lines in lists, for what is published.
extension SettlementBatch {
    /// What one list gets.
    private struct Wanted {
        let line: ListedLine
        var addition = ListFile.Addition()
        /// The lines of each step.
        var lines: [Int: [[UInt8]]] = [:]
    }

    // MARK: Before anything is published

    /// Refuses a folder that has something strange where files that go into it later would have their list, and a file
    /// whose line cannot be added in a folder that a drop's name led to: who published that may have sent it as it is.
    /// In a configured folder it is up to its owner, and the file waits.
    mutating func checkLists(for placement: Placement, in folder: HeldFolder?, _ index: Int) throws(IOError) {
        if placement.isFolder, !placement.isFailure, !placement.lists.isEmpty, let source = placement.source {
            let tree = try HeldFolder(source, OpenFile.pathOnly)
            for list in placement.lists.names where try !ListFile.isPossible(list, in: tree) {
                throw IOError(ListFile.adding, source.appending(list), .invalidArgument)
            }
        }
        guard let folder else { return }
        for line in steps[index].settlement.record.payload?.lines(for: placement.source) ?? [] {
            let list = placement.folder.appending(line.list)
            if cleared.contains(list) { continue }
            if mover.open.root(of: placement.folder) != placement.folder,
                try !ListFile.isPossible(line.list, in: folder)
            {
                throw IOError(ListFile.adding, list, .invalidArgument)
            }
            cleared.insert(list)
        }
    }

    // MARK: When it is

    /// Adds lines to the lists, once the moves are made: no line names what is not there. They reach the disk together
    /// with the moves.
    mutating func addLines() {
        var wanted: [FilePath: Wanted] = [:]
        var order: [FilePath] = []
        for index in steps.indices where steps[index].failure == nil && isListed(index) {
            do throws(IOError) {
                for line in try listedLines(index) {
                    if wanted[line.path] == nil { order.append(line.path) }
                    add(line, of: index, to: &wanted[line.path, default: Wanted(line: line)])
                }
            } catch {
                steps[index].failure = .unsettled(error)
            }
        }
        guard !order.isEmpty else { return }
        let deadline = MonotonicTime.now() + ListFile.patience
        for path in order {
            guard let list = wanted[path] else { continue }
            do throws(IOError) {
                try add(list, to: path, deadline)
            } catch {
                fail(list, error)
            }
        }
    }

    private mutating func fail(_ list: Wanted, _ error: IOError) {
        let isConfigured = mover.open.root(of: list.line.folder) == list.line.folder
        if !isConfigured, error.action == ListFile.adding || ListFile.isOfList(error.errno) {
            // It was a list when this was decided. Others are not to wait for whoever exchanged it.
            warnings.append("no digests were added to '\(list.line.path.text)': \(error)")
            return
        }
        for index in list.lines.keys where steps[index].failure == nil {
            if error.action == "sync" { doubtLists(of: index, because: error) }
            steps[index].failure = .ofList(error)
        }
    }

    /// The jobs that are over write no more lines, and theirs are on the disk.
    func forgetLines() {
        guard !spool.outstanding.isEmpty else { return }
        let over = steps.filter { $0.failure == nil && $0.settlement.record.payload?.isListed ?? false }
        if !over.isEmpty { spool.outstanding.forget(over.map(\.settlement.job.id)) }
    }

    /// A sync that was to bring the moves and lines to the disk failed, and a second one would not tell.
    mutating func doubtLists(because error: IOError) {
        for index in steps.indices where isListed(index) { doubtLists(of: index, because: error) }
    }

    private mutating func doubtLists(of index: Int, because error: IOError) {
        steps[index].settlement.record.doubtLists(because: "\(error)", at: .now())
    }

    private func isListed(_ index: Int) -> Bool {
        guard case .processed = steps[index].settlement.outcome else { return false }
        return steps[index].settlement.record.payload?.isListed ?? false
    }

    /// The lines of one job. With `on_conflict: replace` not those of what gave way to something newer by now.
    private mutating func listedLines(_ index: Int) throws(IOError) -> [ListedLine] {
        let lines = steps[index].settlement.record.listedLines
        guard steps[index].isReplay, spool.pipeline.onConflict == .replace else { return lines }
        var current: [ListedLine] = []
        for line in lines {
            if steps[index].made.contains(line.move) {
                current.append(line)
            } else if case .open(let folder) = try mover.open.look(line.folder) {
                if try folder.identity(of: line.move.target.lastName ?? line.list) == nil { current.append(line) }
            }
        }
        return current
    }

    private func add(_ line: ListedLine, of index: Int, to list: inout Wanted) {
        list.lines[index, default: []].append(line.text.bytes)
        if steps[index].isReplay { list.addition.byContent = true }
        if steps[index].settlement.record.hasDoubtfulLists { list.addition.isDoubtful = true }
        if spool.pipeline.onConflict == .replace {
            // What was published first under this name has given way.
            list.addition.lines.removeAll { $0.subject == line.text.subject }
            list.addition.isReplacing = true
            if mover.replaced.contains(line.move.target) { list.addition.byContent = true }
        }
        list.addition.lines.append(line.text)
    }

    private mutating func add(_ list: Wanted, to path: FilePath, _ deadline: MonotonicTime) throws(IOError) {
        let (name, above) = (list.line.list, list.line.folder)
        guard case .open(let folder) = try mover.open.look(above) else {
            throw IOError("open", above, .noSuchFileOrDirectory)
        }
        let isSyncedAlone = try spool.diskSync.syncsAlone(in: folder, by: spool.work.whole)
        // Also where it fails: part of a line may be there.
        mover.writes(listIn: above, alone: isSyncedAlone)
        let identity = FileIdentity(try folder.folder.file.status())
        let file = ListFile(
            name, in: folder, list.line.move.role == .output ? spool.pipeline.rights : OutputRights(),
            isSyncedAlone: isSyncedAlone, deadline: deadline)
        try file.add(list.addition) {
            for (index, lines) in list.lines {
                spool.outstanding.note(lines, of: steps[index].settlement.job.id, in: path, identity)
            }
        } others: {
            spool.outstanding.lines(of: path, identity)
        }
    }
}

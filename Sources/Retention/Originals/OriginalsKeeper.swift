package import Files
package import Journal
package import PipelineKit
import SystemPackage

/// Removes the originals of one folder that are to be kept no longer, in steps that a crash may cut anywhere: which
/// ones are about to go is on record before the first is touched, and what became of them once that is on the disk.
/// For one caller at a time. Blocks.
package struct OriginalsKeeper {
    /// So many are removed in one step, and so many looked at.
    package static let batch = 20
    static let glance = 500
    /// So many are looked at where a batch of them is to be removed, of which most can be.
    private static let choice = 40
    /// So many folders that were made are tried in one step.
    private static let folderBatch = 100

    let journal: any FileJournal
    let folder: KeptFolder
    let isDry: Bool
    private let limits: KeepLimits
    private let now: Timestamp
    private let isShort: (_ freed: Int64) -> Bool

    /// `isDry`: it only says what would be done. `isShort`: whether space is so short that the oldest are to go, also
    /// once so many bytes are freed.
    package init(
        _ journal: any FileJournal, _ folder: KeptFolder, _ limits: KeepRule.Limits, at now: Timestamp,
        isClockDoubtful: Bool = false, isDry: Bool = false, isShort: @escaping (_ freed: Int64) -> Bool = { _ in false }
    ) {
        (self.journal, self.folder, self.isDry, self.now, self.isShort) = (journal, folder, isDry, now, isShort)
        self.limits = KeepLimits(limits, at: now, isClockDoubtful: isClockDoubtful)
    }

    /// Does the next step.
    package func step(from cursor: PruneCursor) throws(JournalError) -> PruneStep {
        guard isDry || journal.mayRemove(from: folder) else { return PruneStep(next: nil) }
        var step = PruneStep(next: cursor)
        do throws(PruneProblem) {
            try carryOut(cursor, &step)
        } catch {
            switch error {
            case .journal(let error): throw error
            case .folder(let error): step.fail("\(error); nothing is removed there until that works")
            }
        }
        return step
    }

    private func carryOut(_ cursor: PruneCursor, _ step: inout PruneStep) throws(PruneProblem) {
        var standing = try PruneProblem.journal { () throws(JournalError) in try journal.standing(of: folder) }
        var place = try PruneProblem.folder { () throws(IOError) in
            try OriginalsFolder(folder.root, mark: standing.mark)
        }
        if place.aside == nil, standing.files > 0, let trouble = try doubt(&place, standing) {
            return step.fail(trouble)
        }
        // What a client says of them counts for less.
        standing.files = max(0, standing.files.subtractingSaturated(max(0, cursor.files)))
        standing.bytes = max(0, standing.bytes.subtractingSaturated(max(0, cursor.bytes)))
        switch cursor.phase {
        case .unfinished:
            step.changed = standing.changed
            try finish(&place, &step)
            step.next?.enter(limits.areExceeded(by: standing) ? .looking : .removing)
        case .looking: try look(place, &step)
        case .removing: try remove(&place, standing, from: cursor, &step)
        case .folders: try removeFolders(&place, &step)
        }
    }

    // MARK: Originals

    /// Ends what an earlier run began.
    private func finish(_ place: inout OriginalsFolder, _ step: inout PruneStep) throws(PruneProblem) {
        guard !isDry else { return }
        let files = try PruneProblem.journal { () throws(JournalError) in try journal.leaving(folder) }
        try remove(files, begun: true, &place, &step)
    }

    /// Finds those that do not count: they are gone, or not to be removed.
    private func look(_ place: OriginalsFolder, _ step: inout PruneStep) throws(PruneProblem) {
        let files = try files(behind: step.next, limit: Self.glance)
        var ends: [KeptEnd] = []
        for file in files {
            guard let sight = try sight(of: file, deeply: true, in: place, &step) else { continue }
            if let end = step.note(sight, of: file, isDry: isDry) { ends.append(end) }
        }
        try end(ends)
        step.next?.last = files.last?.place
        if files.count < Self.glance {
            step.next?.hasLooked = true
            step.next?.enter(.removing)
        }
    }

    /// Nil where it cannot be seen, which is told; then it does not count either.
    private func sight(
        of file: KeptFile, deeply: Bool = false, in place: OriginalsFolder, _ step: inout PruneStep
    ) throws(PruneProblem) -> OriginalsFolder.Sight? {
        step.looked += 1
        do throws(IOError) {
            return try place.look(at: file, deeply: deeply)
        } catch {
            try step.note(error)
            step.next?.leaveOut(file)
            return nil
        }
    }

    /// Removes the oldest, as long as they are to go.
    private func remove(
        _ place: inout OriginalsFolder, _ standing: KeptStanding, from cursor: PruneCursor, _ step: inout PruneStep
    ) throws(PruneProblem) {
        var (standing, chosen, ends): (KeptStanding, [KeptFile], [KeptEnd]) = (standing, [], [])
        let files = try files(behind: step.next, limit: Self.choice)
        var isOver = files.count < Self.choice
        var freed = isDry ? cursor.freed : 0
        for var file in files {
            guard let rule = limits.rule(for: file, of: standing, isShort: { isShort(freed) }) else {
                isOver = true
                break
            }
            step.next?.last = file.place
            guard var sight = try sight(of: file, in: place, &step) else {
                standing.leaveOut(file)
                continue
            }
            // Left out when it was looked for.
            if cursor.hasLooked, sight == .linked || isDry && sight != .asLeft { continue }
            if isDry, sight == .asLeft {
                guard let deep = try self.sight(of: file, deeply: true, in: place, &step) else { continue }
                sight = deep
            }
            if sight == .asLeft {
                file.rule = "\(folder.place.rawValue): \(rule)"
                chosen.append(file)
                freed = freed.addingSaturated(file.bytes)
                if isDry { step.next?.leaveOut(file) }
            } else if let end = step.note(sight, of: file, isDry: isDry) {
                ends.append(end)
            }
            standing.leaveOut(file)
            if chosen.count == Self.batch {
                isOver = isOver && file == files.last
                break
            }
        }
        if isOver { step.next?.enter(.folders) }
        try end(ends)
        if isDry {
            step.next?.freed = freed
            step.removed = chosen
        } else if !chosen.isEmpty {
            try PruneProblem.journal { () throws(JournalError) in try journal.begin(chosen) }
            try remove(chosen, begun: false, &place, &step)
        }
    }

    private func remove(
        _ files: [KeptFile], begun: Bool, _ place: inout OriginalsFolder, _ step: inout PruneStep
    ) throws(PruneProblem) {
        var (ends, removed, problem): ([KeptEnd], [KeptFile], PruneProblem?) = ([], [], nil)
        for file in files {
            do throws(IOError) {
                // What is the folder's trouble leaves the rest where they are.
                let sight = problem == nil ? try place.remove(file, begun: begun) : .asLeft
                if let sight {
                    ends.append(step.note(sight, of: file, isDry: false) ?? KeptEnd(file.job, .stays))
                } else {
                    ends.append(KeptEnd(file.job, .removed(rule: file.rule ?? "")))
                    removed.append(file)
                }
            } catch {
                do throws(PruneProblem) { try step.note(error) } catch let found { problem = found }
                step.next?.leaveOut(file)
                // What was brought out of the way, or may have been, is not left there: the next run goes on with it.
                if (try? place.holds(file)) == false { ends.append(KeptEnd(file.job, .stays)) }
            }
        }
        // What is on record as removed is not to be there again after a power cut.
        try PruneProblem.folder { () throws(IOError) in try place.sync() }
        try end(ends)
        step.removed += removed
        if let problem { throw problem }
        for error in place.leftBeside { try step.note(error) }
    }

    private func files(behind cursor: PruneCursor?, limit: Int) throws(PruneProblem) -> [KeptFile] {
        try PruneProblem.journal { () throws(JournalError) in
            try journal.files(in: folder, after: cursor?.last, limit: limit)
        }
    }

    private func end(_ ends: [KeptEnd]) throws(PruneProblem) {
        guard !ends.isEmpty, !isDry else { return }
        try PruneProblem.journal { () throws(JournalError) in try journal.end(ends, in: folder, at: now) }
    }

    // MARK: Folders

    /// Removes folders that were made for originals and hold nothing any more.
    private func removeFolders(_ place: inout OriginalsFolder, _ step: inout PruneStep) throws(PruneProblem) {
        guard !isDry else {
            step.next = nil
            return
        }
        let last = step.next?.lastFolder
        let made = try PruneProblem.journal { () throws(JournalError) in
            try journal.madeFolders(in: folder, before: last, limit: Self.folderBatch)
        }
        var removed: [MadeFolder] = []
        for one in made {
            step.looked += 1
            do throws(IOError) {
                if try place.remove(one) { removed.append(one) }
            } catch {
                try step.note(error)
            }
        }
        try PruneProblem.folder { () throws(IOError) in try place.sync() }
        try PruneProblem.journal { () throws(JournalError) in try journal.forget(removed, in: folder) }
        step.next?.lastFolder = made.last?.path
        if made.count < Self.folderBatch { step.next = nil }
    }
}

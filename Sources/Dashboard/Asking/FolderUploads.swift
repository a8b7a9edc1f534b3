import Files
import Synchronization

/// The folders that come, each bound to who began it, and used by one request at a time. What goes wrong with one ends
/// it, and so does silence, or that who began it is not let in any more.
final class FolderUploads<Upload: ComingFolder>: Sendable {
    /// What a request does with one.
    enum Use: Sendable { case part, finish }

    private struct Entry {
        let upload: Upload
        let owner: String
        let isStillAllowed: @Sendable () -> Bool
        /// How many bytes have come.
        var count: Int64 = 0
        var use: Use?
        var used: MonotonicTime
        /// How long nothing may come from then on.
        var patience: Duration = FolderUploads.patience
        var entries = 0

        mutating func begin(_ use: Use, at now: MonotonicTime) {
            self.use = use
            patience -= now - used
        }

        /// Something has come, which pays for the time that nothing came.
        mutating func end(with size: Int64, at now: MonotonicTime) {
            (count, use, used) = (count.addingSaturated(size), nil, now)
            var seconds = Double(size) / FolderUploads.leastRate
            if entries < FolderUploads.mostEntries {
                entries += 1
                seconds += FolderUploads.entryTime
            }
            patience = min(FolderUploads.patience, patience + .seconds(min(seconds, 60)))
        }
    }

    /// How long nothing may come, and how often that is looked at. The daemon waits a little longer.
    private static var patience: Duration { .seconds(60) }
    /// Bytes a second, as of a file alone, and for how many seconds an entry stands besides: nobody holds a place with
    /// next to nothing.
    private static var leastRate: Double { Double(64 << 10) / 60 }
    private static var entryTime: Double { 2 }
    private static var mostEntries: Int { 10_000 }
    private static var glance: Duration { .seconds(2) }

    private let entries = Mutex<[String: Entry]>([:])
    private let now: @Sendable () -> MonotonicTime

    init(now: @escaping @Sendable () -> MonotonicTime = { .now() }) { self.now = now }

    func enter(_ upload: Upload, owner: String, isStillAllowed: @escaping @Sendable () -> Bool) {
        let (id, now) = (upload.id, now())
        entries.withLock {
            $0[id] = Entry(upload: upload, owner: owner, isStillAllowed: isStillAllowed, used: now)
        }
        Task { [weak self] in
            repeat { try? await Task.sleep(for: Self.glance) } while self?.goesOn(id) ?? false
        }
    }

    /// Does something with one of this owner's; whatever goes wrong ends it. `size`: how many bytes come with that.
    func use<Result>(
        _ id: String, by owner: String, for use: Use, size: Int64 = 0,
        _ body: (_ upload: Upload, _ before: Int64) async throws -> Result
    ) async throws -> Result {
        let entry = try take(id, owner, use)
        do {
            let result = try await body(entry.upload, entry.count)
            switch use {
            case .finish: entries.withLock { _ = $0.removeValue(forKey: id) }
            case .part:
                let isThere = entries.withLock { entries in
                    entries[id]?.end(with: size, at: now())
                    return entries[id] != nil
                }
                // It was given up meanwhile, and that with it.
                guard isThere else { throw Self.unknown }
            }
            return result
        } catch {
            end(id)
            throw error
        }
    }

    private func take(_ id: String, _ owner: String, _ use: Use) throws(Problem) -> Entry {
        try entries.withLock { entries in
            Result { () throws(Problem) in
                let entry = try Self.find(id, owner, in: entries)
                guard entry.use == nil else { throw Self.busy }
                entries[id]?.begin(use, at: now())
                return entry
            }
        }.get()
    }

    /// Gives one of this owner's up.
    func cancel(_ id: String, by owner: String) throws(Problem) {
        let entry = try entries.withLock { entries in
            Result { () throws(Problem) in
                let entry = try Self.find(id, owner, in: entries)
                guard entry.use != .finish else { throw Self.busy }
                return entries.removeValue(forKey: id)
            }
        }.get()
        entry?.upload.close()
    }

    /// Somebody else's is as good as none.
    private static func find(_ id: String, _ owner: String, in entries: [String: Entry]) throws(Problem) -> Entry {
        guard let entry = entries[id], entry.owner == owner else {
            throw unknown
        }
        return entry
    }

    private static var unknown: Problem {
        Problem(
            .notFound, "upload.unknown", "no such folder is on its way in", subject: "upload",
            remedy: "Begin it again; one that is refused, broken off or silent for a minute is given up.")
    }

    private static var busy: Problem {
        Problem(
            .conflict, "upload.turn", "another request about this folder is under way", subject: "upload",
            remedy: "Send its files one after another.")
    }

    private func end(_ id: String) { entries.withLock { $0.removeValue(forKey: id) }?.upload.close() }

    /// Whether it is still to be looked after.
    func goesOn(_ id: String) -> Bool {
        guard let isStillAllowed = entries.withLock({ $0[id]?.isStillAllowed }) else { return false }
        // That reads a file; meanwhile it may have been used.
        let (isAllowed, now) = (isStillAllowed(), now())
        let (isThere, given) = entries.withLock { entries -> (Bool, Upload?) in
            guard let entry = entries[id] else { return (false, nil) }
            let isLate = now - entry.used >= entry.patience
            guard entry.use == nil && isLate || entry.use != .finish && !isAllowed else { return (true, nil) }
            entries[id] = nil
            return (false, entry.upload)
        }
        given?.close()
        return isThere
    }
}

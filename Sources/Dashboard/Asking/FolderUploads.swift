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
    }

    /// How long nothing may come, and how often that is looked at. The daemon waits a little longer.
    private static var patience: Duration { .seconds(60) }
    private static var glance: Duration { .seconds(2) }

    private let entries = Mutex<[String: Entry]>([:])
    private let now: @Sendable () -> MonotonicTime

    init(now: @escaping @Sendable () -> MonotonicTime = { .now() }) { self.now = now }

    func enter(_ upload: Upload, owner: String, isStillAllowed: @escaping @Sendable () -> Bool) {
        entries.withLock {
            $0[upload.id] = Entry(upload: upload, owner: owner, isStillAllowed: isStillAllowed, used: now())
        }
        Task { [weak self] in
            repeat { try? await Task.sleep(for: Self.glance) } while self?.goesOn(upload.id) ?? false
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
                entries.withLock { entries in
                    guard let before = entries[id]?.count else { return }
                    entries[id]?.count = before.addingSaturated(size)
                    entries[id]?.use = nil
                    entries[id]?.used = now()
                }
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
                entries[id]?.use = use
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
            throw Problem(
                .notFound, "upload.unknown", "no such folder is on its way in", subject: "upload",
                remedy: "Begin it again; one that is refused, broken off or silent for a minute is given up.")
        }
        return entry
    }

    private static var busy: Problem {
        Problem(
            .conflict, "upload.turn", "another request about this folder is under way", subject: "upload",
            remedy: "Send its files one after another.")
    }

    private func end(_ id: String) { entries.withLock { $0.removeValue(forKey: id) }?.upload.close() }

    /// Whether it is still to be looked after.
    func goesOn(_ id: String) -> Bool {
        guard let entry = entries.withLock({ $0[id] }) else { return false }
        let isSilent = entry.use == nil && now() - entry.used >= Self.patience
        guard isSilent || entry.use != .finish && !entry.isStillAllowed() else { return true }
        end(id)
        return false
    }
}

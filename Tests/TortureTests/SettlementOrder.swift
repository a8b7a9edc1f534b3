/// Reads the system calls of a run and says where settlement did not keep its order: what is published is on the disk
/// before it gets its name, an original is removed only when the folders of its job's outputs are on the disk, the
/// journal knows the moves before the first is made, and it knows of the end before the job's folder serves another
/// job.
struct SettlementOrder {
    typealias Call = Faultline.Call

    private let calls: [Call]
    private let results: [String]
    private var problems: [String] = []

    /// `results`: the folders that things are published in. The rest is found by its name: `/active/JOB/`, and
    /// `journal.sqlite-wal`, which is left out where there is none.
    static func problems(in calls: [Call], results: [String]) -> [String] {
        var order = SettlementOrder(calls: numbered(calls.filter { $0.result >= 0 }), results: results)
        order.check()
        return order.problems
    }

    /// Each claim into a folder begins another job: the second one in `/active/JOB` is given the name `/active/JOB#2`.
    private static func numbered(_ calls: [Call]) -> [Call] {
        var claims: [String: Int] = [:]
        func numbered(_ path: String) -> String {
            guard let folder = job(of: path), let count = claims[folder], count > 1 else { return path }
            return path.replacing("/active/\(folder)", with: "/active/\(folder)#\(count)", maxReplacements: 1)
        }
        return calls.map { call in
            if isClaim(call), let folder = job(of: call.target) { claims[folder, default: 0] += 1 }
            var call = call
            (call.path, call.target) = (numbered(call.path), numbered(call.target))
            return call
        }
    }

    private static func isClaim(_ call: Call) -> Bool {
        isRename(call) && job(of: call.path) == nil && job(of: call.target) != nil && isOriginal(call.target)
    }

    private init(calls: [Call], results: [String]) {
        self.calls = calls
        self.results = results
    }

    // MARK: What a call is

    private func isPublishing(_ call: Call) -> Bool {
        Self.isRename(call) && Self.job(of: call.path) != nil && results.contains { call.target.hasPrefix($0 + "/") }
    }

    /// The drop goes: at once, or out of the way first.
    private func isRemoval(_ call: Call) -> Bool {
        guard Self.isOriginal(call.path) else { return false }
        return call.name.hasPrefix("unlink")
            || Self.isRename(call) && Self.job(of: call.target) != nil && !Self.isOriginal(call.target)
    }

    private static func isRename(_ call: Call) -> Bool { ["rename", "renameat", "renameat2"].contains(call.name) }

    private static func isSync(_ call: Call) -> Bool { call.name == "fsync" || call.name == "fdatasync" }

    private static func isWrite(_ call: Call) -> Bool {
        ["create", "write", "pwrite64", "copy_file_range", "ftruncate"].contains(call.name)
    }

    private static func isJournal(_ call: Call) -> Bool { call.path.hasSuffix("/journal.sqlite-wal") }

    /// The job that a path of the work folder belongs to.
    private static func job(of path: String) -> String? {
        let parts = path.split(separator: "/")
        guard let place = parts.firstIndex(of: "active"), parts.count > place + 1 else { return nil }
        return String(parts[place + 1])
    }

    private static func parent(_ path: String) -> String {
        "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// The drop as it was claimed lies in the job's folder itself, under a name that shows.
    private static func isOriginal(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        guard let place = parts.firstIndex(of: "active") else { return false }
        return parts.count == place + 3 && parts[place + 2].first != "."
    }

    // MARK: The rules

    private mutating func check() {
        let publishing = calls.filter(isPublishing)
        for call in publishing { checkSynced(call) }
        let moving = calls.filter { isPublishing($0) || isRemoval($0) }
        for job in Set(moving.compactMap { Self.job(of: $0.path) }).sorted() {
            let moves = moving.filter { Self.job(of: $0.path) == job }
            if let removal = moves.first(where: isRemoval) {
                for output in moves where output.begun < removal.begun {
                    expectSync(of: Self.parent(output.target), after: output, before: removal)
                }
            }
            if let end = end(of: job) {
                for move in moves {
                    let changed = isPublishing(move) ? move.target : move.path
                    expectSync(of: Self.parent(changed), after: move, before: end)
                }
            }
            checkJournal(job, moves)
        }
    }

    /// Everything that was written below the source must have been synced after its last write.
    private mutating func checkSynced(_ call: Call) {
        for (path, written) in writes(below: call.path, before: call) {
            let isSynced = calls.contains { sync in
                guard sync.begun > written.ended, sync.ended < call.begun else { return false }
                return sync.name == "syncfs" || (Self.isSync(sync) && sync.path == path)
            }
            if !isSynced { problems.append("'\(path)' was published as '\(call.target)' before it was synced") }
        }
    }

    /// The last write of each file that is below a path when a call begins, by its name at that time. The source itself
    /// counts as written when it came to be, so that a drop is synced too.
    private func writes(below source: String, before call: Call) -> [String: Call] {
        var last: [String: Call] = [:]
        for made in calls where made.ended < call.begun {
            if Self.isWrite(made) || (made.name.hasPrefix("mkdir") && Self.job(of: made.path) != nil) {
                last[made.path] = made
            } else if made.name.hasPrefix("unlink") || made.name == "rmdir" {
                last[made.path] = nil
            } else if Self.isRename(made) {
                for (path, write) in last where path == made.path || path.hasPrefix(made.path + "/") {
                    last[path] = nil
                    last[made.target + path.dropFirst(made.path.count)] = write
                }
                if Self.job(of: made.target) != nil, Self.isOriginal(made.target) { last[made.target] = made }
            }
        }
        return last.filter { $0.key == source || $0.key.hasPrefix(source + "/") }
    }

    private mutating func expectSync(of folder: String, after move: Call, before later: Call) {
        let isSynced = calls.contains {
            $0.begun > move.ended && $0.ended < later.begun
                && ($0.name == "syncfs" || (Self.isSync($0) && $0.path == folder))
        }
        if !isSynced {
            problems.append("'\(folder)' was not synced between '\(move.target)' and \(later.name) '\(later.path)'")
        }
    }

    /// When the job's folder serves another job, or goes.
    private func end(of job: String) -> Call? {
        let name = job.split(separator: "#")
        let next = "\(name[0])#\((name.count > 1 ? Int(name[1]) ?? 1 : 1) + 1)"
        return calls.first { call in
            if Self.isClaim(call), Self.job(of: call.target) == next { return true }
            return call.path.hasSuffix("/active/\(job)") && (call.name == "rmdir" || call.name == "unlinkat")
        }
    }

    private mutating func checkJournal(_ job: String, _ moves: [Call]) {
        guard calls.contains(where: Self.isJournal), let first = moves.map(\.begun).min(),
            let last = moves.map(\.ended).max()
        else { return }
        let commits = calls.filter { Self.isJournal($0) && Self.isSync($0) }
        // What the stages made is on the disk first, then the journal may promise to publish it.
        let synced = calls.filter { Self.isSync($0) && Self.job(of: $0.path) == job && $0.ended < first }.map(\.ended)
            .max()
        if !commits.contains(where: { $0.ended < first && $0.begun > (synced ?? -1) }) {
            problems.append("job \(job): the journal was not synced between its outputs and the first move")
        }
        guard let end = end(of: job) else { return }
        let folderSync = calls.filter {
            (Self.isSync($0) || $0.name == "syncfs") && $0.begun > last && $0.ended < end.begun && !Self.isJournal($0)
        }
        let after = folderSync.map(\.ended).min() ?? last
        if !commits.contains(where: { $0.begun > after && $0.ended < end.begun }) {
            problems.append("job \(job): the journal did not know of the end when the job's folder served another")
        }
    }
}

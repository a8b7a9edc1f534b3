import Files
import FolderWatch
import PipelineKit
import Readiness

// The drops of an inbox, page by page.
extension Intake {
    /// Whose reasons are counted at most: a question is not to hold up the inbox.
    private static let mostCounted = 20_000

    /// Reports a page, on the intake's queue. Costs one look at every name that waits.
    nonisolated func reportListing(_ question: DropQuestion, _ report: @escaping @Sendable (DropListing) -> Void) {
        enqueue { intake in report(intake.listing(question)) }
    }

    private func listing(_ question: DropQuestion) -> DropListing {
        let now = MonotonicTime.now()
        var listing = DropListing()
        listing.isOfFolders = spool.pipeline.ready.unit == .folder
        var page = FirstOfMany(question.limit, after: question.after)
        let listsIncomplete = question.kind == nil || question.kind == .incomplete
        gate.forEachWaiting { path, since in
            if listing.counted < Self.mostCounted, let waiting = gate.waiting(for: path, at: now) {
                listing.reasons[waiting.code, default: 0] += 1
                listing.counted += 1
            }
            if listsIncomplete, question.matches(path) { page.add(DropPlace(since: since, path: path)) }
        }
        // Another drop may have come under the same path.
        var late: [DropPlace: WaitingDrop] = [:]
        for drop in lateWriters.standing(at: now, limit: lateWriters.paths.count) {
            listing.reasons[drop.waiting.code, default: 0] += 1
            guard let path = DropPath(bytes: drop.path), let known = drop.known else { continue }
            let place = DropPlace(since: now - known, path: path)
            late[place] = drop
            if listsIncomplete, question.matches(path) { page.add(place) }
        }
        let held = heldDrops
        if !held.isEmpty { listing.reasons[Waiting.suspect.code, default: 0] += held.count }
        if question.kind == nil || question.kind == .held {
            for path in held where question.matches(path) {
                page.add(DropPlace(since: MonotonicTime(nanoseconds: 0), path: path))
            }
        }
        addComplete(&listing, &page, question, now)
        listing.counted += late.count + held.count + listing.complete
        listing.waiting = waitingCount
        let (places, hasMore) = page.page()
        listing.drops = places.compactMap { place in
            (late[place] ?? standing(of: place.path, at: now)).map { drop($0, place.path) }
        }
        if hasMore { listing.more = places.last }
        listing.oldest = snapshot(limit: 0).oldest
        addLeft(&listing, question, now)
        return listing
    }

    private func addComplete(
        _ listing: inout DropListing, _ page: inout FirstOfMany<DropPlace>, _ question: DropQuestion,
        _ now: MonotonicTime
    ) {
        var (oldest, sum, share): (DropPlace?, Int64, Int) = (nil, 0, 0)
        let isHeld = isHeldBack || paused != nil || isYielding || !isClaiming
        let lists = question.kind == .complete || question.kind == .held && isHeld
        ready.forEach { path, since, size in
            let place = DropPlace(since: since, path: path)
            if oldest.map({ place < $0 }) ?? true { oldest = place }
            sum = sum.addingSaturated(max(0, size))
            if !isHeld, ready.isHeldBack(path) { share += 1 }
            if lists, question.matches(path) { page.add(place) }
        }
        (listing.complete, listing.completeBytes) = (ready.count, sum)
        guard let path = oldest?.path, let drop = standing(of: path, at: now) else { return }
        if share > 0 { listing.reasons[Waiting.share("").code, default: 0] += share }
        let reason = ready.isHeldBack(path) && !isHeld ? .room : drop.waiting
        if share < ready.count { listing.reasons[reason.code, default: 0] += ready.count - share }
        listing.oldestComplete = self.drop(drop, path)
    }

    private func drop(_ drop: WaitingDrop, _ path: DropPath) -> DropListing.Drop {
        let size = drop.isClaimed ? nil : gate.size(of: path) ?? ready.size(of: path)
        return DropListing.Drop(
            path: path, size: size, known: drop.known, code: drop.waiting.code, text: drop.waiting.text,
            isComplete: !drop.isClaimed && ready.known(path) != nil, isClaimed: drop.isClaimed)
    }

    /// What nobody waits for: refused as it is, a marker alone, or of a name that is not taken.
    private func addLeft(_ listing: inout DropListing, _ question: DropQuestion, _ now: MonotonicTime) {
        let alone = examiner.markersAlone.filter { reported[$0] == nil }
        listing.leftCount = reported.count + alone.count + untakenCount
        guard question.kind == nil || question.kind == .left, let place = question.leftAfter else { return }
        let untaken = passed.merging(siblings.names) { first, _ in first }
        var after: DropPath?
        if case .path(let path) = place { after = path }
        var page = FirstOfMany(question.limit, after: after)
        for path in reported.all.map(\.path) + alone + Array(untaken.keys) where question.matches(path) {
            page.add(path)
        }
        let (paths, hasMore) = page.page()
        listing.left = paths.compactMap { path in
            if let since = untaken[path] { return untakenDrop(path, known: now - since) }
            return standing(of: path, at: now).map { drop($0, path) }
        }
        if hasMore { listing.leftMore = paths.last }
    }

    /// Since when each is known that the watcher passes over; as many as are kept.
    private var passed: [DropPath: MonotonicTime] { watcher?.assumeIsolated { $0.untaken.names } ?? [:] }

    /// How many names are not taken, as far as that is kept.
    var untakenCount: Int { passed.count + siblings.names.count }

    private func untakenDrop(_ path: DropPath, known: Duration) -> DropListing.Drop? {
        let match = spool.pipeline.match
        switch match.verdict(on: path.name) {
        case .taken: return nil
        case .ignored(let reason):
            return .init(
                path: path, known: known, code: Waiting.ignored(reason).code,
                text: "never taken: \(reason); rename it when it is done")
        case .excluded(let glob):
            return .init(
                path: path, known: known, code: Waiting.excluded(glob.pattern).code,
                text: "not taken: match.exclude has '\(EscapedText.of(glob.pattern))'")
        case .notIncluded:
            let all = match.include.prefix(5).map { "'\(EscapedText.of($0.pattern))'" }.joined(separator: ", ")
            return .init(
                path: path, known: known, code: Waiting.notIncluded.code,
                text: "no pattern takes it: match.include has \(all)\(match.include.count > 5 ? ", …" : "")")
        }
    }
}

import PipelineKit

extension Journal {
    /// Calls the body with jobs that match, some at a time and oldest first, as long as that returns true.
    package func forEachPage(
        _ wanted: JobQuery, of size: Int = 1000, _ body: ([JobRecord]) throws(JournalError) -> Bool
    ) throws(JournalError) {
        var (query, known) = (wanted, Set<JobID>())
        query.isOldestFirst = true
        while true {
            // Those that were claimed at the time of the last one are among the next ones, too.
            let limit = size + known.count
            query.limit = limit
            let page = try jobs(query)
            let new = page.filter { !known.contains($0.id) }
            if !new.isEmpty, !(try body(new)) { return }
            guard page.count == limit, let last = page.last?.claimedAt else { return }
            query.since = last
            known = Set(page.reversed().prefix { $0.claimedAt == last }.map(\.id))
        }
    }
}

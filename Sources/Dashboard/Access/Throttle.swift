import Files

/// How often an address may be wrong: ten times a minute. A pure value.
struct Throttle: Sendable {
    static let most = 10
    static let time = Duration.seconds(60)
    /// Addresses that are remembered; beyond, the one that was wrong longest ago is forgotten.
    private static let mostAddresses = 4096

    private var wrong: [String: [MonotonicTime]] = [:]

    /// After how many seconds it may try again; nil: now.
    mutating func wait(for address: String, at now: MonotonicTime) -> Int? {
        let recent = (wrong[address] ?? []).filter { now - $0 < Self.time }
        wrong[address] = recent.isEmpty ? nil : recent
        guard recent.count >= Self.most, let first = recent.first else { return nil }
        return max(1, Int((Self.time - (now - first)).seconds.rounded(.up)))
    }

    mutating func note(_ address: String, at now: MonotonicTime) {
        wrong[address, default: []].append(now)
        guard wrong.count > Self.mostAddresses else { return }
        let oldest = wrong.min { ($0.value.last ?? now) < ($1.value.last ?? now) }
        if let oldest { wrong[oldest.key] = nil }
    }
}

import SystemPackage
import TestSupport
import Testing

/// Calls that are left out where that must do harm: a suite that sees nothing wrong then would see nothing at all. They
/// are left out from outside; the program has no such switch.
struct Omission: Sendable, CustomTestStringConvertible {
    /// Where somebody else syncs something just before a power cut.
    enum Busy: Sendable { case nowhere, onTheDisk, everywhere }

    let testDescription: String
    let calls: [String]
    var path = "*"
    /// Only from the first call on such a path on, and only up to the first on such a one.
    var after: String?
    var until: String?
    var ground = Ground(disk: .ext4, hasLane: true)
    var stateElsewhere = false
    /// The calls at which the run ends: what is left out may do harm at a few of them only.
    var points = Faultline.changing
    var pointsPath: String?
    /// Somebody else's syncs would also bring to the disk what is left out here.
    var busy = Busy.everywhere
    /// Further archives, where each has but a short time in which harm can be done.
    var archives = 0
    /// Further small files.
    var files = 0

    /// What has its final name.
    static let results = "*/@(output|processed|failed)/*"
    /// The write-ahead log that the journal's commits go to.
    static let log = "*/journal.sqlite-wal"

    /// What happens to a run of the mill, but for the deed itself.
    func fault(of mill: Mill) -> Faultline {
        var fault = mill.fault(points)
        if let pointsPath { fault.path = pointsPath }
        (fault.skipped, fault.skippedPath) = (calls, path)
        (fault.skippedAfter, fault.skippedUntil) = (after, until)
        return fault
    }

    func drop(into site: Site) throws {
        try site.mill.dropMixed()
        for number in 0..<archives { try site.mill.dropZip("more-\(number).zip") }
        for number in 0..<files { try site.mill.dropPlain("more-\(number).txt") }
    }

    func busyPlaces(of site: Site) -> [FilePath] {
        switch busy {
        case .nowhere: []
        case .onTheDisk: site.disks.prefix(1).map(\.path)
        case .everywhere: site.disks.map(\.path)
        }
    }

    private func site() throws -> Site {
        let site = try Site.on(ground, stateElsewhere: stateElsewhere)
        try drop(into: site)
        return site
    }

    /// Tries points until harm is seen, each at a site of its own; in the long form all of them.
    func seek(
        _ what: String, _ trial: @escaping @Sendable (_ point: Int, Site, Faultline) throws -> [String]
    ) async throws {
        let first = try site()
        var counting = fault(of: first.mill)
        counting.skipped = []
        let points = Torture.spread(try first.mill.countCalls(counting), most: 40)
        var (tried, seen) = (0, 0)
        // Those of a round lie far apart.
        let rounds = Torture.isLong ? 1 : max(1, points.count / 6)
        for round in 0..<rounds {
            let some = points.indices.filter { $0 % rounds == round }.map { points[$0] }
            tried += some.count
            let found = try await Torture.forEach(some) { point in
                let site = try site()
                return try trial(point, site, fault(of: site.mill))
            }
            seen += found.count { !$0.isEmpty }
            if seen > 0, !Torture.isLong { break }
        }
        Torture.say("\(what), \(testDescription) (must be seen): violations at \(seen) of \(tried) points")
        #expect(seen > 0)
    }
}

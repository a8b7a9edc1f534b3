import PipelineKit
package import SystemPackage

/// Promise 1 as a program: knows what was dropped, and says of any moment whether something was lost, published twice
/// or half-published. It looks at folders only and knows nothing of how Dropmill works.
///
/// Things are known again by the digests of their bytes, so every drop and every file in an archive must be unique.
package struct Ledger: Sendable {
    /// Where a pipeline's things lie. The pipeline publishes into `output/{stem}` with SHA-256 digests, and what is
    /// called `*.listed` into `output/by-listed` with a list of these.
    package struct Layout: Sendable {
        /// The folders of the pipeline file.
        package var inbox: FilePath, processed: FilePath, failed: FilePath, output: FilePath
        /// Its work folder.
        package var work: FilePath
        /// The inbox and the work folder of another pipeline that publishes to the same folders.
        package var twin: (inbox: FilePath, work: FilePath)?

        /// The usual layout below one folder, of a pipeline named `all`.
        package init(below root: FilePath) {
            inbox = root.appending("inbox")
            processed = root.appending("processed")
            failed = root.appending("failed")
            output = root.appending("output")
            work = root.appending(".dropmill").appending("all")
        }
    }

    /// What is to become of a drop.
    package enum Fate: Sendable {
        /// It is itself published in `output/{stem}`, with `NAME.sha256` beside it.
        case published
        /// It is itself published in `output/by-listed`, where SHA256SUMS has its line.
        case listed
        /// These files are published as the folder `output/{stem}`, with SHA256SUMS; it goes to processed.
        case unpacked([String: [UInt8]])
        /// It goes to failed, with `NAME.error.json` beside it.
        case failed
    }

    /// One drop.
    package struct Drop: Sendable {
        /// Its name.
        package let name: String
        /// SHA-256, as all digests here.
        let digest: String
        let fate: Fate
        /// The digests of what is published, by name: of an archive's files and of SHA256SUMS.
        let members: [String: String]
        /// Whether somebody has fetched what came of it.
        fileprivate(set) var isFetched = false

        init(_ name: String, _ content: [UInt8], _ fate: Fate) {
            self.name = name
            self.fate = fate
            digest = LedgerCheck.sha256(content)
            var members: [String: String] = [:]
            if case .unpacked(let contents) = fate {
                members = contents.mapValues(LedgerCheck.sha256)
                members["SHA256SUMS"] = LedgerCheck.sha256(LedgerCheck.manifest(of: members))
            }
            self.members = members
        }
    }

    /// Something that must never be.
    package struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// What kind of harm it is.
        package enum Kind: String, Sendable {
            /// A drop, or what it became, is nowhere.
            case lost
            /// A drop is in two places.
            case doubled
            /// The same result was published twice.
            case publishedTwice = "published twice"
            /// A result is there in part, with other bytes, or without what belongs beside it.
            case torn = "half-published"
            /// All is settled, but this drop is not.
            case unsettled
            /// A drop ended where it should not.
            case misjudged
            /// A temporary file was left behind.
            case leftover
            /// Something is there that nobody asked for.
            case stranger
        }

        /// The kind.
        package let kind: Kind
        /// What is wrong, with the name.
        package let text: String

        /// `lost: 'a.txt' is nowhere`
        package var description: String { "\(kind.rawValue): \(text)" }
    }

    /// How far the world should be when it is looked at.
    package enum Moment: Sendable {
        /// The daemon was just killed: drops may be anywhere, but whole. `copying`: a move may be a copy, so that a
        /// drop may be at its target and in the work folder.
        case interrupted(copying: Bool)
        /// All is done.
        case settled
    }

    /// What was dropped.
    package private(set) var drops: [Drop] = []
    /// The digests of files that lay in the folders before, by their paths.
    private var standing: [FilePath: String] = [:]

    /// Lines of somebody else in the list of `output/by-listed`.
    private var standingLines: [[UInt8]] = []

    /// Nothing dropped yet.
    package init() {}

    /// Notes a drop.
    package mutating func note(_ name: String, _ content: [UInt8], _ fate: Fate) {
        drops.append(Drop(name, content, fate))
    }

    /// Notes that what was published of a drop was fetched: it must not be there again.
    package mutating func noteFetched(_ content: [UInt8]) {
        let digest = LedgerCheck.sha256(content)
        for index in drops.indices where drops[index].digest == digest { drops[index].isFetched = true }
    }

    /// Notes a file that lay there before and must stay as it is.
    package mutating func noteStanding(_ path: FilePath, _ content: [UInt8]) {
        standing[path] = LedgerCheck.sha256(content)
    }

    /// Notes lines that were in the list of `output/by-listed` before and must stay there.
    package mutating func noteStandingLines(_ lines: [String]) { standingLines += lines.map { Array($0.utf8) } }

    /// All that is wrong at this moment.
    package func violations(in layout: Layout, at moment: Moment) throws -> [Violation] {
        var check = LedgerCheck(drops: drops, layout: layout, moment: moment)
        try check.gather()
        for (path, digest) in standing { check.expectStanding(path, digest) }
        try check.findDrops()
        try check.judgeList(standing: standingLines)
        check.findPublishedFolders()
        check.judgeRest()
        check.judgeDrops()
        return check.violations
    }
}

import Digests
@preconcurrency import Dispatch
package import Files
package import FolderWatch
import Glibc
package import PipelineKit
import SystemPackage

/// Looks at the candidates of one inbox for its gate: what they are, who writes to them, and whether all that has to
/// come with them (a marker, the files of a manifest) is there and right. A value of the intake.
package struct Examiner {
    /// The result for the gate.
    package struct Outcome {
        package let sample: Sample
        /// What the candidate lacks, if this look was to decide.
        package var lacking: Waiting?
        /// The limit that it is beyond, so that it fails once it is complete, if this look was to decide.
        package var excess: ReadyRule.Limits.Excess?

        package init(sample: Sample, lacking: Waiting? = nil, excess: ReadyRule.Limits.Excess? = nil) {
            self.sample = sample
            self.lacking = lacking
            self.excess = excess
        }
    }

    /// A look that was begun.
    package enum Look {
        case over(Outcome)
        /// It takes as long as the folder is large; `finding` gives the result.
        case underWay(TreeLook)
    }

    /// What a change of the inbox is about.
    package struct Meaning {
        /// The drops to examine again.
        package var again: Set<DropPath> = []
        /// Whether it is one of a drop.
        package var isOfDrop = true
    }

    private let rule: ReadyRule
    private let match: MatchRule
    private let sight: WriterSight
    private let digests: DigestCheck.Reading
    private let formats: FormatCheck.Reading
    private var markers: MarkerIndex
    /// Nil without change notifications: then siblings are looked up on disk.
    private var siblings: SiblingIndex?

    /// Markers hold a size or a digest; a larger file is not a marker, and is not read.
    private static let largestMarker = 64 << 10

    /// `isNotified`: whether `receive` is called for each change of the inbox.
    package init(
        rule: ReadyRule, match: MatchRule, sight: WriterSight, digests: DigestCheck.Reading,
        formats: FormatCheck.Reading, isNotified: Bool
    ) {
        self.rule = rule
        self.match = match
        self.sight = sight
        self.digests = digests
        self.formats = formats
        siblings = isNotified ? SiblingIndex() : nil
        let marker = rule.markerBeside
        markers = MarkerIndex(timeout: rule.timeout) { @Sendable drop in marker?.name(for: drop) }
    }

    // MARK: What comes and goes

    /// Takes in a change of the inbox. `isThere`: whether a name is in the inbox; `all`: the drops that wait in a
    /// folder.
    package mutating func receive(
        _ change: InboxChange, at now: MonotonicTime, isThere: (DropPath) -> Bool,
        all: (InboxFolder) -> Set<DropPath>
    ) -> Meaning {
        let path = change.path
        if rule.isMarkerBeside(path.name) {
            guard !isForAll else { return Meaning(again: all(path.folder), isOfDrop: false) }
            if case .vanished = change {
                return Meaning(again: markers.vanished(path, with: onlyDrop(of: path)), isOfDrop: false)
            }
            let drop = onlyDrop(of: path).flatMap { isThere($0) ? $0 : nil }
            return Meaning(again: markers.appeared(path, with: drop, at: now), isOfDrop: false)
        }
        var meaning = Meaning()
        // Those of a drop that goes with another one may be waiting for that.
        if case .changed = change {} else { meaning.again = Set(siblings(of: path)) }
        if let drop = SiblingNames.drop(of: path.name).map({ DropPath($0, in: path.folder) }) {
            if receive(change, beside: drop) { meaning.again.insert(drop) }
            meaning.isOfDrop = match.verdict(on: path.name) == .taken
        }
        guard meaning.isOfDrop else { return meaning }
        if case .vanished = change {
            forget(path, at: now)
        } else if !isForAll, let marker = marker(of: path) {
            markers.appeared(drop: path, of: marker, isOnly: hasOwnMarker)
        }
        return meaning
    }

    /// Handles a change of a sibling that holds a drop back; returns whether to examine the drop again.
    private mutating func receive(_ change: InboxChange, beside drop: DropPath) -> Bool {
        if case .vanished(let path) = change {
            siblings?.vanished(path.name, beside: drop)
            return true
        }
        return siblings?.appeared(change.path.name, beside: drop) ?? false
    }

    /// The known siblings that hold a drop back.
    package func siblings(of path: DropPath) -> [DropPath] {
        (siblings?.beside(path) ?? []).map { DropPath($0, in: path.folder) }
    }

    /// We claimed the drop. Returns the marker that was claimed with it.
    package mutating func took(_ path: DropPath, at now: MonotonicTime) -> DropPath? {
        if rule.isMarkerBeside(path.name) {
            _ = markers.vanished(path)
            return nil
        }
        if let drop = SiblingNames.drop(of: path.name) {
            siblings?.vanished(path.name, beside: DropPath(drop, in: path.folder))
        }
        let marker = marker(of: path)
        let stays = sharesMarker(path)
        if let marker, !stays { _ = markers.vanished(marker) }
        forget(path, at: now)
        return stays ? nil : marker
    }

    /// Whether the drop's marker has to stay because others need it.
    package func sharesMarker(_ path: DropPath) -> Bool {
        guard let marker = marker(of: path) else { return false }
        return isForAll || markers.isShared(marker, besides: path)
    }

    /// Markers whose drops have not come for too long, each once.
    package mutating func overdueMarkers(at now: MonotonicTime) -> [DropPath] {
        markers.overdue(at: now)
    }

    /// When the next of them may be found.
    package var nextDue: MonotonicTime? { markers.nextDue }

    /// The markers whose drops are not there, but should be.
    package var markersAlone: [DropPath] { Array(markers.alone) }

    /// Whether it is one of these.
    package func isMarkerAlone(_ path: DropPath) -> Bool { markers.isAlone(path) }

    /// A drop that the marker is for; nil if there is none or the path is not a marker.
    package func drop(ofMarker path: DropPath) -> DropPath? { markers.drop(of: path, only: onlyDrop(of: path)) }

    /// Whether it is the marker for all drops of its folder.
    package func isMarkerForAll(_ path: DropPath) -> Bool { isForAll && rule.isMarkerBeside(path.name) }

    /// Whether one marker speaks for all drops of a folder: it stays when they are taken, and needs none.
    private var isForAll: Bool { rule.markerBeside?.isShared ?? false }

    private mutating func forget(_ path: DropPath, at now: MonotonicTime) {
        digests.forget(path)
        formats.forget(path)
        if !isForAll, let marker = marker(of: path) {
            markers.vanished(drop: path, of: marker, isOnly: hasOwnMarker, at: now)
        }
    }

    /// Whether no two drops have the same marker.
    private var hasOwnMarker: Bool { rule.markerBeside?.isOfWholeName ?? false }

    /// The one drop that a marker can speak for, where there cannot be others.
    private func onlyDrop(of marker: DropPath) -> DropPath? {
        rule.markerBeside?.onlyDrop(of: marker.name).map { DropPath($0, in: marker.folder) }
    }

    /// The sidecar marker that a drop needs; nil if the rule has none.
    private func marker(of path: DropPath) -> DropPath? {
        rule.markerBeside?.name(for: path.name).map { DropPath($0, in: path.folder) }
    }

    // MARK: Looking

    /// One look at a candidate, in its folder. `deciding`: it may be the one that finds it complete.
    package func examine(_ path: DropPath, in inbox: borrowing OpenFile, deciding: Bool) throws(IOError) -> Look {
        let asked = deciding && rule.writers == .wait ? sight : nil
        let attributes = deciding ? Attributes.deciding(sight) : .remembered
        let sample = try Sample.examine(
            path.name, in: inbox, unit: rule.unit, asking: rule.unit == .file ? asked : nil,
            by: attributes)
        guard rule.unit == .folder, case .file = sample else {
            return .over(try finding(sample, nil, of: path, in: inbox, deciding: deciding))
        }
        return .underWay(try TreeLook(at: path.name, in: inbox, limits: rule.limits, asking: asked, by: attributes))
    }

    /// The result of a finished look at a folder.
    package func finding(
        of look: TreeLook, at path: DropPath, in inbox: borrowing OpenFile, deciding: Bool
    ) throws(IOError) -> Outcome {
        try finding(look.sample, look.excess, of: path, in: inbox, deciding: deciding)
    }

    private func finding(
        _ sample: Sample, _ excess: ReadyRule.Limits.Excess?, of path: DropPath, in inbox: borrowing OpenFile,
        deciding: Bool
    ) throws(IOError) -> Outcome {
        guard deciding, case .file(let fingerprint, let writers) = sample, !writers.areKnown else {
            return Outcome(sample: sample)
        }
        if let excess = excess ?? rule.limits.excess(ofSize: fingerprint.size), !rule.isMarkerBeside(path.name) {
            return Outcome(sample: sample, excess: excess)
        }
        do throws(IOError) {
            var lack = try sibling(of: path, in: inbox)
            if lack == nil { lack = try self.lack(of: path, in: inbox, fingerprint) }
            return Outcome(sample: sample, lacking: lack ?? wholeness(of: path, fingerprint))
        } catch {
            // It vanished or was replaced just now, or what came with it cannot be opened: the next look will show it.
            return Outcome(sample: try Sample.blocked(error, fingerprint))
        }
    }

    /// The sibling that marks it as unfinished, or the drop that it marks so itself.
    private func sibling(of path: DropPath, in inbox: borrowing OpenFile) throws(IOError) -> Waiting? {
        // A known one is looked up too: its removal may not have been reported.
        let names =
            siblings?.beside(path) ?? SiblingNames.siblings(of: path.name).filter { !rule.isMarkerBeside($0) }
        for name in names {
            if try kind(of: name, in: inbox) != nil { return .sibling(name) }
        }
        guard let drop = SiblingNames.drop(of: path.name), match.verdict(on: drop) == .taken else { return nil }
        let isThere = try kind(of: drop, in: inbox) == (rule.unit == .folder ? .folder : .regular)
        return isThere ? .siblingOf(drop) : nil
    }

    private func kind(of name: FileName, in folder: borrowing OpenFile) throws(IOError) -> FileKind? {
        try MadeCalls.look(name, in: folder).map { FileKind(mode: $0.st_mode) }
    }

    /// What its own content lacks, if the pipeline asks for that.
    private func wholeness(of path: DropPath, _ fingerprint: Fingerprint) -> Waiting? {
        guard rule.complete == .format, !rule.isMarkerBeside(path.name) else { return nil }
        switch formats.answer(of: path, in: fingerprint, asking: rule.unit) {
        case nil: return .reading
        case .whole: return nil
        case .lacks(let lack): return .incomplete(lack)
        case .undetermined(let reason): return .undetermined(reason)
        }
    }

    private func lack(
        of path: DropPath, in inbox: borrowing OpenFile, _ fingerprint: Fingerprint
    ) throws(IOError) -> Waiting? {
        let name = path.name
        if let marker = rule.marker {
            var expected: Set<Digest> = []
            guard let markerName = marker.name(for: name) else {
                return .marker(name, .unusable("its name would be too long"))
            }
            let fault =
                rule.markerBeside == nil
                ? try fault(
                    of: markerName, in: try OpenFile.open(name, in: inbox, O_RDONLY | O_DIRECTORY), isShared: false,
                    drop: name, fingerprint, &expected)
                : try fault(
                    of: markerName, in: inbox, isShared: marker.isShared, drop: name, fingerprint, &expected)
            if let fault { return .marker(markerName, fault) }
            if !expected.isEmpty {
                switch digests.answer(of: path, in: fingerprint, asking: .digests(expected)) {
                case nil: return .verifying
                case .fits, .lacks: break
                case .failed(let reason): return .marker(markerName, .unusable(reason))
                case .differs(let algorithm): return .marker(markerName, .digest(algorithm: algorithm.rawValue))
                }
            }
        }
        return rule.manifest.flatMap { lack(of: path, fingerprint, matching: $0) }
    }

    /// What the manifests of a dropped folder have against it.
    private func lack(of path: DropPath, _ fingerprint: Fingerprint, matching pattern: Glob) -> Waiting? {
        switch digests.answer(of: path, in: fingerprint, asking: .manifests(pattern)) {
        case nil: .verifying
        case .fits, .differs: nil
        case .lacks(let fault): .manifest(fault)
        case .failed(let reason): .manifest(.unreadable(reason))
        }
    }

    /// What is wrong with a marker, or which digests it wants compared.
    private func fault(
        of name: FileName, in folder: borrowing OpenFile, isShared: Bool, drop: FileName, _ fingerprint: Fingerprint,
        _ expected: inout Set<Digest>
    ) throws(IOError) -> Waiting.MarkerFault? {
        let text: [UInt8]
        do throws(IOError) {
            let file = try OpenFile.open(name, in: folder, O_RDONLY | O_NONBLOCK)
            let status = try Attributes.deciding(sight).of(file)
            guard FileKind(mode: status.st_mode) == .regular else { return .unusable("it is not a regular file") }
            let own = Fingerprint(status)
            // One that speaks for a whole folder speaks for what was there before it.
            if isShared, own.changed < fingerprint.changed { return .outdated }
            if rule.writers == .wait, case .some(let writer) = sight.writers(of: file.descriptor, own.identity) {
                return .unusable("\(writer.text) has it open for writing")
            }
            guard own.size <= Self.largestMarker else { return nil }
            text = try SmallFile.read(file, atMost: Self.largestMarker)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return .missing
            case .fileTooLarge: return nil
            case .tooManySymbolicLinkLevels: return .unusable("it is a symbolic link")
            // It is there; what it says is not for us.
            case .permissionDenied: return nil
            case .noSuchAddressOrDevice: return .unusable("it is not a regular file")
            case .resourceTemporarilyUnavailable: return .unusable(Self.leased(name, in: folder))
            default: throw error
            }
        }
        return judge(text, of: name, drop, fingerprint, &expected)
    }

    /// The process whose lease keeps a marker from being opened.
    private static func leased(_ name: FileName, in folder: borrowing OpenFile) -> String {
        let holder = FileStatus.of(name, in: folder).map { LeaseHolders.holder(of: FileIdentity($0)) } ?? .unknown
        return Waiting.heldOpen(holder).text
    }

    /// What the content of a marker says of its drop. Content of any other kind says nothing.
    private func judge(
        _ text: [UInt8], of name: FileName, _ drop: FileName, _ fingerprint: Fingerprint,
        _ expected: inout Set<Digest>
    ) -> Waiting.MarkerFault? {
        // A name such as `a.bin.sha3-512` tells digests of one length apart; one that misleads does not count.
        let algorithm = DigestList.algorithm(ofListNamed: name.bytes)
        let form = DigestList.isSFV(name.bytes) ? DigestList.Form.sfv : .digestsAndSizes
        var list = DigestList(text, algorithm: algorithm, form: form)
        if list.strangeLine != nil { list = DigestList(text, algorithm: nil, form: .digestsAndSizes) }
        guard list.strangeLine == nil else { return nil }
        for line in list.lines where line.path == nil || line.path.map(Self.lastComponent) == drop.bytes {
            switch line.expected {
            case .size(let size) where size != fingerprint.size:
                return .size(announced: size, found: fingerprint.size)
            case .size, .anything: break
            case .digest(let digest):
                guard rule.unit == .file else { return .unusable("it contains a digest, but the drop is a folder") }
                expected.insert(digest)
            }
        }
        return nil
    }

    private static func lastComponent(_ path: [UInt8]) -> [UInt8] {
        path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[($0 + 1)...]) } ?? path
    }
}

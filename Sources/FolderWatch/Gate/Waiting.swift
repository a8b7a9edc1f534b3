package import Files

/// What stands between a file or folder of an inbox and its claim, as a value that others print: `status` and `explain`
/// show its sentence.
package enum Waiting: Sendable, Hashable {
    /// It has not been examined yet.
    case unseen
    /// It stands still, and has for so long of the time that is asked for.
    case quiet(for: Duration, of: Duration)
    /// The same, with a longer time than the rule's, since open writers are not detectable.
    case blind(for: Duration, of: Duration)
    /// It has zero bytes, which asks for a longer time.
    case empty(for: Duration, of: Duration)
    /// It is growing, by this many bytes a second as last measured, and has been unchanged for this long since.
    case growing(bytesPerSecond: Int64, for: Duration, of: Duration)
    /// It changed without getting larger: written in place, shrunk, replaced, or its times were set.
    case changing(for: Duration, of: Duration)
    /// A process has it open for writing.
    case heldOpen(Writer)
    /// It cannot be opened or examined, for a reason that is its own and may pass: the kernel's word on it.
    case blocked(String)
    /// It is complete but for its marker.
    case marker(FileName, MarkerFault)
    /// It is complete but for what its manifest lists.
    case manifest(ManifestFault)
    /// Its digests are being compared with those in its marker or manifest.
    case verifying
    /// A name beside it says that it is not done.
    case sibling(FileName)
    /// It is itself such a sibling, of this drop.
    case siblingOf(FileName)
    /// By its content it is not whole; what is missing.
    case incomplete(String)
    /// Its completeness is being examined.
    case reading
    /// Its completeness could not be determined and is examined again later; why.
    case undetermined(String)
    /// The daemon died while examining it: it is examined again when there is no other work.
    case suspect
    /// It is complete; a job that the daemon may have died of runs alone.
    case yielding
    /// Another host looks after it.
    case unlisted
    /// Another node comes first.
    case ceded
    /// It is complete; the active window has no room.
    case room
    /// It is complete; this producer has as many active jobs as one may.
    case share(String)
    /// It is complete; no more are claimed now by this limit.
    case rate(String)
    /// It is claimed as this job, of which the journal cannot be told.
    case unwritten(job: String)
    /// The pipeline is paused for this reason, a sentence.
    case paused(String)
    /// It is outside the pipeline's hours: what is said of that.
    case outside(String)
    /// A person holds the pipeline: what is said of that.
    case held(String)
    /// It is a marker, and the drop that it speaks for is not there.
    case markerWithoutDrop
    /// It is a marker, and this drop that it speaks for is there.
    case markerOf(FileName)
    /// It is the marker for all drops of its folder.
    case markerOfAll
    /// It stays where it is until it is changed; why.
    case refused(String)
    /// It has zero bytes, and such files are ignored.
    case ignoredEmpty
    /// It is never taken, by its name; why.
    case ignored(String)
    /// No pattern of `match.include` takes its name.
    case notIncluded
    /// This pattern of `match.exclude` keeps it.
    case excluded(String)

    /// A process that has a drop open for writing, as far as known.
    package struct Writer: Sendable, Hashable {
        /// Its id; nil if the kernel reports only that there is a writer.
        package var process: Int32?
        /// The name of its program (comm of proc(5)), or nil where it was gone before it could be read.
        package var program: String?
        /// Whether it has none of the files open, but is in the folder or has that open.
        package var isInFolder: Bool
        /// Whether it keeps others from opening the file (a write lease of fcntl(2)).
        package var holdsLease: Bool

        package init(process: Int32? = nil, program: String? = nil, isInFolder: Bool = false, holdsLease: Bool = false)
        {
            self.process = process
            self.program = program
            self.isInFolder = isInFolder
            self.holdsLease = holdsLease
        }

        /// Unknown writer.
        package static let unknown = Writer()
    }

    /// What is wrong with a marker.
    package enum MarkerFault: Sendable, Hashable {
        case missing
        /// A marker for the whole inbox is there, but it is older than the drop.
        case outdated
        /// It is not a regular file, or it cannot be read; why.
        case unusable(String)
        /// It announces another size than the drop has.
        case size(announced: Int64, found: Int64)
        /// It announces another digest than the drop has.
        case digest(algorithm: String)
    }

    /// What is wrong with a manifest, or with what it lists.
    package enum ManifestFault: Sendable, Hashable {
        /// No file of the folder is one.
        case missing
        /// It cannot be understood, or cannot be trusted; why.
        case unusable(FileName, String)
        /// It, or what it lists, cannot be read; why.
        case unreadable(String)
        /// How many of the listed files are missing; the first of them.
        case lacks(Int, first: String)
        /// How many of the listed files have different digests; the first of them.
        case differs(Int, first: String)
    }
}

extension Waiting {
    /// Whether something that has to come with the drop is not there, or not right.
    package var isLack: Bool {
        switch self {
        case .marker, .manifest, .verifying, .sibling, .siblingOf, .incomplete, .reading, .undetermined: true
        default: false
        }
    }

    /// Whether it is a question that got no answer.
    var isUndetermined: Bool { if case .undetermined = self { true } else { false } }

    /// Whether an answer is being computed and will be announced.
    package var isUnderWay: Bool { self == .verifying || self == .reading }
}

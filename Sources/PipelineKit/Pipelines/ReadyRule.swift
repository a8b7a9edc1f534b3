package import Files

/// When a drop is complete.
package struct ReadyRule: Sendable, Hashable {
    /// How long it must stand unchanged, over at least two samples.
    package var quiet: Duration
    /// The same if open writers cannot be detected: on network file systems, and for files
    /// of other users without CAP_LEASE. A configured `quiet` holds for both.
    package var blindQuiet: Duration
    /// Whether a process that has it open for writing holds it back.
    package var writers: Writers
    /// What happens to drops of zero bytes.
    package var empty: Empty
    /// What one drop is.
    package var unit: Unit
    /// The file that marks a drop as complete; nil: none is needed. It is necessary, never sufficient.
    package var marker: MarkerRule?
    /// Which files of a dropped folder list what it has to hold; nil: none is needed. Only for `unit: folder`.
    package var manifest: Glob?
    /// What says that a drop is whole, besides all of this.
    package var complete = Complete.still
    /// A drop that is not complete after this time fails; nil: no limit.
    package var timeout: Duration?

    /// How large a drop may be; a larger one fails.
    package var limits: Limits

    /// A rule with the documented defaults.
    package init(
        quiet: Duration? = nil, writers: Writers = .wait, empty: Empty = .process, unit: Unit = .file,
        marker: MarkerRule? = nil, manifest: Glob? = nil, timeout: Duration? = nil, limits: Limits = Limits()
    ) {
        self.quiet = quiet ?? .seconds(1)
        blindQuiet = quiet ?? .seconds(10)
        self.writers = writers
        self.empty = empty
        self.unit = unit
        self.marker = marker
        self.manifest = manifest
        self.timeout = timeout
        self.limits = limits
    }

    /// Whether a drop needs something besides standing still.
    package var hasCondition: Bool { marker != nil || manifest != nil }

    /// The rule for markers that lie beside their drops: nil where there are none, or where one lies in each folder
    /// that is dropped.
    package var markerBeside: MarkerRule? {
        marker.flatMap { $0.isShared && unit == .folder ? nil : $0 }
    }

    /// Whether a file of this name beside the drops can only be a marker, and so is none of them.
    package func isMarkerBeside(_ name: FileName) -> Bool { markerBeside?.isMarker(name) ?? false }

    /// How large a drop may be.
    package struct Limits: Sendable, Hashable {
        /// The most bytes of a file, or of all files of a folder; nil: any number.
        package var size: ByteSize?
        /// The most files and folders that a folder may hold, at all depths.
        package var entries: Int
        /// How many folders may lie in each other in it.
        package var depth: Int

        /// What `depth` can be: each of these folders is open while a look is in it.
        package static let depths = 1...256

        /// Limits with the documented defaults.
        package init(size: ByteSize? = nil, entries: Int = 1_000_000, depth: Int = 64) {
            self.size = size
            self.entries = entries
            self.depth = depth
        }

        /// The limit that a drop is beyond.
        package enum Excess: Sendable, Hashable { case size, entries, depth }

        /// Whether a drop of so many bytes is too large.
        package func excess(ofSize bytes: Int64) -> Excess? { size.map { bytes > $0.bytes } ?? false ? .size : nil }
    }

    /// What one drop is.
    package enum Unit: String, Sendable, CaseIterable {
        /// A regular file.
        case file
        /// A folder with all it holds.
        case folder
    }

    /// What open writers mean.
    package enum Writers: String, Sendable, CaseIterable {
        /// The drop waits until they close it.
        case wait
        /// They are ignored.
        case ignore
    }

    /// What says that a drop is whole, besides that it stands still.
    package enum Complete: String, Sendable, CaseIterable {
        /// Nothing.
        case still
        /// Its own content, as far as its format can tell.
        case format
    }

    /// What a file of zero bytes is.
    package enum Empty: String, Sendable, CaseIterable {
        /// A drop like any other.
        case process
        /// A drop that fails.
        case fail
        /// No drop, as long as it is empty.
        case ignore
    }
}

/// What may come out of an archive, and how much.
package struct UnpackPolicy: Sendable, Equatable {
    /// What happens to symbolic and hard links.
    package enum Links: String, Sendable, CaseIterable {
        /// Any link fails the archive.
        case fail
        /// Links are left out.
        case skip
        /// Those whose target stays inside are kept; any other fails the archive.
        case inside
    }

    /// Which names count as the same.
    package enum UniqueNames: String, Sendable, CaseIterable {
        /// Those of the same bytes.
        case exact
        /// Also those that a file system without regard to case, or with names in Unicode's composed form, would take
        /// for one.
        case strict
    }

    /// The character set of a zip's names that do not say they are UTF-8.
    package enum NameEncoding: String, Sendable, CaseIterable {
        /// Kept as the bytes that they are.
        case bytes
        /// As the first PCs had it, which is what the zip format means where nothing else is said.
        case cp437
        /// Shift-JIS with the extensions of Windows.
        case shiftJIS = "shift_jis"
    }

    /// Whether a tar must end with the two empty blocks that mark its end.
    package enum TarEnd: String, Sendable, CaseIterable {
        case required
        /// What old programs write passes; so does a tar that was cut between two members.
        case optional
    }

    /// What happens to two entries of one name in tar, cpio and ar, to which programs can append.
    package enum Duplicates: String, Sendable, CaseIterable {
        case fail
        /// The last one counts.
        case last
    }

    /// How much it may be.
    package var limits = ExtractionLimits()
    /// What happens to links.
    package var links = Links.inside
    /// The permission bits that files (0644, or 0755 for those that may be run) and folders (0755) keep; the umask
    /// takes from them too.
    package var mode: UInt32 = 0o755
    /// Whether files keep the right to be run.
    package var keepsExecutable = false
    /// Which names count as the same.
    package var uniqueNames = UniqueNames.exact
    /// Whether a tar must be marked as whole.
    package var tarEnd = TarEnd.required
    /// What happens to two entries of one name.
    package var duplicates = Duplicates.fail
    /// The character set of a zip's unmarked names.
    package var nameEncoding = NameEncoding.bytes
    /// The formats that are unpacked: the rest is not an archive.
    package var formats = ArchiveFormat.usual
    /// How many layers of archives within archives are unpacked as well.
    package var nested = 0
    /// Whether documents that happen to be archives are unpacked where they lie within archives.
    package var takesDocuments = false
    /// Whether an archive fails whose content nothing proves to be what it was.
    package var requiresIntegrity = false
    /// Passwords to be tried on encrypted zips.
    package var passwords: [[UInt8]] = []
    /// Whether what is unpacked is to be on the disk soon, so that the kernel is to begin to write files
    /// that are not small while the next ones are made.
    package var isSyncedSoon = false
    /// How many threads may work at one archive.
    package var workers = 1

    package init() {}
}

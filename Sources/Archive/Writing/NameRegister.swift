/// Tells names apart that some file systems do not: those that differ in case only, or in how Unicode composes a
/// letter. One for an archive and all within it. Used on one thread.
final class NameRegister {
    /// A name in a folder, by what all its spellings have in common.
    private struct Key: Hashable {
        // Two hashes of it: names may be long, and a million of them must not take what a helper has of memory. The
        // seed is another in each process, so that nobody can make two names that seem the same.
        let first: Int
        let second: Int

        init(_ name: ArraySlice<UInt8>, in folder: Int) {
            var hasher = Hasher()
            hasher.combine(folder)
            hasher.combine(NameRegister.common(name))
            var other = hasher
            other.combine(0)
            (first, second) = (hasher.finalize(), other.finalize())
        }
    }

    /// What is there: its number, by which what lies in it is kept, and how its name is spelled.
    private struct Known {
        let number: Int
        let spelling: [UInt8]
    }

    private let most: Int64
    private var known: [Key: Known] = [:]

    /// For so many names at most: each is of an entry or a folder that is made, and these count.
    init(most: Int64) { self.most = most }

    /// Takes in a path, and the folders on the way to it, below a folder. Throws where one is another spelling of what
    /// is there.
    func add(_ path: EntryPath, below folder: [UInt8]) throws(ArchiveError) {
        var number = 0
        for part in [folder, path.bytes] {
            for name in part.split(separator: UInt8(ascii: "/")) { number = try add(name, in: number, of: path) }
        }
    }

    private func add(_ name: ArraySlice<UInt8>, in folder: Int, of path: EntryPath) throws(ArchiveError) -> Int {
        let key = Key(name, in: folder)
        guard let there = known[key] else {
            guard known.count < most else { throw Budget.tooManyEntries(path.stored, most) }
            known[key] = Known(number: known.count + 1, spelling: Array(name))
            return known.count
        }
        guard name.elementsEqual(there.spelling) else {
            throw .conflict(
                path.stored,
                "has a name that differs from '\(String(decoding: there.spelling, as: UTF8.self))' only in case or in "
                    + "how its letters are composed (unique_names: strict)")
        }
        return there.number
    }

    /// Strings are equal where their composed forms are (Unicode's canonical equivalence). Upper and then lower case
    /// brings `ß` and `SS` together, as case folding does; `ẞ` is upper case already.
    private static func common(_ name: ArraySlice<UInt8>) -> String {
        if let text = String(validating: name, as: UTF8.self) {
            return text.lowercased().unicodeScalars.reduce(into: "") { result, scalar in
                // `ı` is another letter than `i`: only its upper case looks the same.
                result += scalar == "\u{131}" ? "\u{131}" : scalar.properties.uppercaseMapping
            }.lowercased()
        }
        // What is not text has no case either. No name has a NUL.
        return name.reduce(into: "\0") { $0.unicodeScalars.append(Unicode.Scalar($1)) }
    }
}

import Files
import Glibc
import PipelineKit
import SystemPackage

/// Drops whose examination may have crashed the daemon: each is examined again when there is no other work,
/// and set aside unexamined if that has happened too often. A value of the intake.
struct Quarantine {
    /// How often the daemon died examining each.
    private(set) var counts: [LookNote.Subject: Int] = [:]
    /// The same by what other nodes know, each of which writes down its own.
    private var others: [LookNote.Subject: Int] = [:]
    /// Those whose turn has not come in this run.
    private(set) var held: Set<LookNote.Subject> = []
    private let limit: Int
    private let begun = MonotonicTime.now()
    /// Nil where nothing is written down.
    private let file: FilePath?

    init(limit: Int) {
        self.limit = limit
        file = nil
    }

    /// Those of the runs before this one, with what the last one died of; `folder`: where they are written down;
    /// `others`: how often other nodes know of.
    init(in folder: FilePath, left: [LookNote.Subject], others: [LookNote.Subject: Int] = [:], limit: Int) {
        file = folder.appending(WorkFolder.suspectsName)
        self.limit = limit
        self.others = others
        counts = Self.read(folder)
        for subject in left { counts[subject, default: 0] += 1 }
        if !left.isEmpty { save() }
        held = Set(counts.keys).union(others.keys)
    }

    /// How often a process died of each that had its notes in that folder; `isDead`: also of what it looked at last.
    static func counts(in folder: FilePath, isDead: Bool) -> [LookNote.Subject: Int] {
        var counts = read(folder)
        for subject in isDead ? LookNote.left(in: folder) : [] { counts[subject, default: 0] += 1 }
        return counts
    }

    /// Writes down what another node knew that is dead. `isKnown`: whether it was among `others`.
    mutating func suspect(_ found: [LookNote.Subject: Int], isKnown: Bool) {
        guard !found.isEmpty else { return }
        counts.merge(found, uniquingKeysWith: +)
        if isKnown { for (subject, count) in found { others[subject, default: count] -= count } }
        held.formUnion(isKnown ? [] : Array(found.keys))
        save()
    }

    /// Whether they have waited so long that their turn comes despite other work.
    var isPatienceOver: Bool { age > .seconds(600) }

    /// How long they have waited in this run.
    var age: Duration { MonotonicTime.now() - begun }

    /// Whether its turn has not come.
    func isHeld(_ subject: LookNote.Subject) -> Bool { held.contains(subject) }

    /// Why it must not be examined again; nil if it may.
    func verdict(on subject: LookNote.Subject, named name: FileName) -> Failure? {
        let count = counts[subject, default: 0] + others[subject, default: 0]
        guard count >= limit else { return nil }
        return .file(
            "recovery.limit", "The daemon stopped \(count) times while examining '\(name)'.",
            remedy: "The drop may be the cause: check the log of these times before sending it again.")
    }

    mutating func admit(_ subject: LookNote.Subject) { held.remove(subject) }

    /// It is gone, or was dealt with.
    mutating func clear(_ subject: LookNote.Subject) {
        held.remove(subject)
        others[subject] = nil
        if counts.removeValue(forKey: subject) != nil { save() }
    }

    /// A line for each: how often, and its bytes in hexadecimal digits.
    private static func read(_ folder: FilePath) -> [LookNote.Subject: Int] {
        do throws(IOError) {
            let file = folder.appending(WorkFolder.suspectsName)
            let text = String(decoding: try SmallFile.read(file, atMost: 1 << 20), as: UTF8.self)
            var counts: [LookNote.Subject: Int] = [:]
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count == 2, let count = Int(words[0]), count > 0, let bytes = bytes(words[1]),
                    let subject = LookNote.Subject(bytes)
                else { continue }
                counts[subject] = count
            }
            return counts
        } catch {
            return [:]
        }
    }

    private static func bytes(_ hex: Substring) -> [UInt8]? {
        let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == hex.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// A count that cannot be written is lost, which is no reason to stop.
    private func save() {
        guard let file else { return }
        let digits = Array("0123456789abcdef".utf8)
        let lines = counts.map { subject, count in
            Array("\(count) ".utf8) + subject.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] } + [0x0A]
        }
        let draft = FilePath(file.string + "-draft")
        do throws(IOError) {
            let written = try OpenFile.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
            try written.write(Array(lines.joined()))
            try written.close()
            guard draft.withPlatformString({ from in file.withPlatformString { rename(from, $0) } }) == 0 else {
                return
            }
        } catch {
            return
        }
    }
}

import Files
import Journal
import SystemPackage

extension OriginalsKeeper {
    /// Why this may not be the folder in which they were left, but one whose disk is away; nil: it is. Its hidden
    /// folder is missing: one original that is as it was left shows that, and has it made. Where there was one before,
    /// somebody has removed it, or jobs have published to where the disk belongs: then most of the oldest must be
    /// there.
    func doubt(_ place: inout OriginalsFolder, _ standing: KeptStanding) throws(PruneProblem) -> String? {
        var (last, found): (ExpiredJob?, Int) = (nil, 0)
        while true {
            let files = try PruneProblem.journal { [last] () throws(JournalError) in
                try journal.files(in: folder, after: last, limit: Self.glance)
            }
            for file in files where try PruneProblem.folder({ () throws(IOError) in try place.holdsAsLeft(file) }) {
                found += 1
                if standing.mark == nil || found * 2 > files.count {
                    if !isDry { try mark(&place) }
                    return nil
                }
            }
            if let mark = standing.mark {
                let known = folder.root.pushing(FilePath(mark)).text
                return "'\(known)', by which Dropmill knows this folder, is missing, and so are most of the oldest "
                    + "originals; nothing is removed there: is its disk mounted? If it is, make that folder again with "
                    + "'mkdir -m 700', as Dropmill's user"
            }
            guard let next = files.last?.place, files.count == Self.glance else { break }
            last = next
        }
        let originals = standing.files == 1 ? "the original" : "any of the \(standing.files) originals"
        return
            "'\(folder.root.text)' does not hold \(originals) that Dropmill has left there; nothing is removed there "
            + "until it holds one: is its disk mounted? Where others have taken all of them, that is in order"
    }

    private func mark(_ place: inout OriginalsFolder) throws(PruneProblem) {
        let text = ".dropmill-kept-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        guard let name = FileName(text) else { return }
        // On record first: one whose name nobody knows would stay there.
        try PruneProblem.journal { () throws(JournalError) in try journal.mark(folder, as: text) }
        try PruneProblem.folder { () throws(IOError) in try place.mark(as: name) }
    }
}

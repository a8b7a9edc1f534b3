import Files
import FolderWatch
import Glibc
import PipelineKit
import SystemPackage

/// How something gets into an inbox.
extension SendBack {
    /// The most numbers that are tried for a name in use.
    private static let mostNames = 10_000

    /// The folder of the inbox that the drop was in, recreated if it is gone. If something else has the name of
    /// such a folder, even a link, the drop goes to the top of the inbox: nothing leads out of the inbox.
    func home(of drop: Drop) throws(IOError) -> HeldFolder {
        let top = HeldFolder(try OpenInbox.open(inbox))
        var folder = top
        for name in drop.folders {
            guard let next = try folder.makeFolder(name) else { return top }
            folder = next
        }
        return folder
    }

    /// The name that one of these files got as a drop of that name; nil where none is there.
    static func find(
        _ files: [FileIdentity], like name: FileName, in folder: HeldFolder
    ) throws(IOError) -> FileName? {
        guard !files.isEmpty else { return nil }
        for number in 1...mostNames {
            let target = number == 1 ? name : name.numbered(number)
            guard let found = try folder.identity(of: target) else { return nil }
            if files.contains(found) { return target }
        }
        return nil
    }

    /// Gives a copy the drop's name, numbered where that is taken, and returns it. Senders may rename files in their
    /// folder: it counts only if it is the copy that has the name, or nothing, since a daemon may claim it at once.
    static func place(
        _ copy: HiddenCopy, of original: FilePath, as name: FileName, in folder: HeldFolder
    ) throws(Refusal) -> FileName {
        guard try refusing({ () throws(IOError) in try copy.hasItsName() }),
            let placed = try refusing({ () throws(IOError) in
                try place(copy.name, of: folder, as: name, in: folder)
            }),
            [copy.identity, nil].contains(try refusing({ () throws(IOError) in try folder.identity(of: placed) }))
        else { throw Refusal("the copy of '\(original.text)' was replaced in '\(folder.path.text)'; try again") }
        return placed
    }

    /// Renames the file into the folder and returns its name; nil if a rename cannot reach it.
    static func place(
        _ source: FileName, of origin: HeldFolder, as name: FileName, in folder: HeldFolder
    ) throws(IOError) -> FileName? {
        for number in 1...mostNames {
            let target = number == 1 ? name : name.numbered(number)
            do throws(IOError) {
                try origin.move(source, to: target, in: folder)
                return target
            } catch {
                switch error.errno {
                case .fileExists: continue
                case .improperLink: return nil
                case .noSuchFileOrDirectory where try origin.identity(of: source) == nil:
                    throw IOError("examine", origin.path.appending(source), .noSuchFileOrDirectory)
                default: throw error
                }
            }
        }
        throw IOError("send in", folder.path.appending(name), .fileExists)
    }

    static func refusing<Result: ~Copyable>(_ body: () throws(IOError) -> Result) throws(Refusal) -> Result {
        do throws(IOError) { return try body() } catch { throw refusal(error) }
    }

    /// Turns a failed call into a message with its remedy.
    static func refusal(_ error: IOError) -> Refusal {
        let remedy =
            switch error.errno {
            case .noSuchFileOrDirectory:
                error.action == "examine" ? "it was already moved or sent" : "create the folder again"
            case .permissionDenied, .notPermitted: "do this as Dropmill's user"
            case .noSpace, .diskQuotaExceeded: "free space there and try again"
            case .notDirectory, .tooManySymbolicLinkLevels:
                "links to it are not followed; move it into the inbox by hand"
            case .staleNFSFileHandle where error.action == "recognize":
                "it is no longer the file that failed; check it, and drop it again by hand"
            case .wouldBlock where error.action == "lock":
                "another 'dropmill retry' or 'dropmill replay' is sending it; wait until that is through"
            case .canceled: "the daemon stops; try again then"
            case .invalidArgument: "only a regular file or a folder can be sent"
            default: "try again once that is fixed"
            }
        return Refusal("\(error); \(remedy)")
    }
}

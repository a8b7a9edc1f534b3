import Files
import FolderWatch
import PipelineKit
import SystemPackage

/// The folder of the inbox that it goes to.
extension UploadDrop {
    /// The folder, where it is there; nil where it is still to be made.
    static func way(
        to folder: InboxFolder, from top: HeldFolder, _ device: UInt64
    ) throws(UploadRefusal) -> HeldFolder? {
        var here = top
        for name in folder.names {
            do throws(IOError) {
                guard let status = try here.status(of: name) else { return nil }
                guard FileKind(mode: status.st_mode) == .folder else { throw IOError("open", here.path, .notDirectory) }
                here = try HeldFolder(name, in: here)
                guard FileIdentity(status).device == device else { throw IOError("open", here.path, .improperLink) }
            } catch {
                throw folderRefusal(error, name)
            }
        }
        return here
    }

    /// The folders from the inbox on to the one that it goes to, made where they are not there.
    func makeWay() throws(UploadRefusal) -> [HeldFolder] {
        var folders = [top]
        for name in path.folder.names {
            let next: HeldFolder?
            do throws(IOError) {
                next = try folders.last?.makeFolder(name)
            } catch {
                throw Self.folderRefusal(error, name)
            }
            guard let next else { throw Self.noFolder(name) }
            folders.append(next)
        }
        return folders
    }

    private static func folderRefusal(_ error: IOError, _ name: FileName) -> UploadRefusal {
        if error.errno == .improperLink { return elsewhere(name.text) }
        return error.isUnreachable ? noFolder(name) : UploadRefusal(error)
    }

    private static func noFolder(_ name: FileName) -> UploadRefusal {
        UploadRefusal(
            .nameRefused, "'\(name.text)' in the inbox is no folder, and links are not followed",
            remedy: "Send it under another path.")
    }

    static func elsewhere(_ folder: String) -> UploadRefusal {
        UploadRefusal(
            .nameRefused, "another file system is mounted at '\(folder)' in the inbox",
            remedy: "Send it under another path.")
    }

    static func taken(_ path: DropPath) -> UploadRefusal {
        UploadRefusal(.nameTaken, "'\(path.text)' is in the inbox already", remedy: "Send it under another name.")
    }
}

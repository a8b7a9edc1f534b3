import Glibc
package import PipelineKit
package import SystemPackage

/// An inbox opened for one round of looks at what lies in it. Its folders are opened name by name from the inbox on,
/// never through a symbolic link: whoever may drop files could otherwise lead Dropmill to files elsewhere.
package final class OpenInbox {
    /// A folder that is open.
    package final class Opened {
        /// Which one.
        package let folder: InboxFolder
        /// Its descriptor.
        package let file: OpenFile

        init(_ folder: InboxFolder, _ file: consuming OpenFile) {
            self.folder = folder
            self.file = file
        }
    }

    /// The inbox itself.
    package let top: Opened
    /// The one used last: names come folder by folder.
    private var last: Opened

    /// Opens the inbox, which may itself be a symbolic link.
    package init(_ path: FilePath) throws(IOError) {
        top = Opened(.top, try OpenFile.open(path, O_RDONLY | O_DIRECTORY))
        last = top
    }

    /// A folder of the inbox. Throws an error that `isUnreachable` for one that is not, or no longer, there.
    package func open(_ folder: InboxFolder) throws(IOError) -> Opened {
        if folder.isTop { return top }
        if last.folder == folder { return last }
        var opened = top
        for name in folder.names {
            opened = Opened(folder, try OpenFile.open(name, in: opened.file, O_RDONLY | O_DIRECTORY))
        }
        last = opened
        return opened
    }
}

extension IOError {
    /// Whether a folder of an inbox could not be opened because it is gone, or something else by now.
    package var isUnreachable: Bool { errno.trouble(with: .drop) == .gone }
}

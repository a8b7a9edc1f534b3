package import Files
import Platform
package import SystemPackage

/// An inbox opened to examine its contents once. Its folders are opened name by name from the inbox on,
/// never through a symbolic link: whoever may drop files could otherwise lead Dropmill to files elsewhere.
package final class OpenInbox {
    /// A folder that is open.
    package final class Opened {
        /// Which one.
        package let folder: InboxFolder
        /// Its descriptor.
        package let file: OpenFile

        package init(_ folder: InboxFolder, _ file: consuming OpenFile) {
            self.folder = folder
            self.file = file
        }
    }

    /// The inbox itself.
    package let top: Opened
    /// The path to the folder used last: names come folder by folder, and a walk descends.
    private var way: [(name: FileName, opened: Opened)] = []

    /// Opens the inbox. What lies in it is taken out of it, so a symbolic link on the way is followed only where it
    /// belongs to root or to our user: anybody else could have it lead to any folder.
    package init(_ path: FilePath) throws(IOError) {
        top = Opened(.top, try Self.open(path))
    }

    /// Opens the inbox alone.
    package static func open(_ path: FilePath) throws(IOError) -> OpenFile {
        do throws(IOError) {
            // Nearly always there is no link, and the kernel goes the way at once.
            var relative = path.absolute
            relative.root = nil
            return try OpenFile.openFolder(relative, below: try OpenFile.open("/", OpenFile.pathOnly))
        } catch {
            guard error.errno == .tooManySymbolicLinkLevels || error.errno == .improperLink else { throw error }
            return try FolderTrust().open(path)
        }
    }

    /// A folder of the inbox. Throws an error that `isUnreachable` for one that is not, or no longer, there.
    package func open(_ folder: InboxFolder) throws(IOError) -> Opened {
        if folder.isTop { return top }
        if let last = way.last?.opened, last.folder == folder { return last }
        let names = folder.names
        let common = zip(way, names).prefix { $0.name == $1 }.count
        way.removeLast(way.count - common)
        for name in names[common...] {
            let above = way.last?.opened ?? top
            let file = try OpenFile.open(name, in: above.file, O_RDONLY | O_DIRECTORY)
            way.append((name, Opened(above.folder.appending(name), file)))
        }
        return way.last?.opened ?? top
    }
}

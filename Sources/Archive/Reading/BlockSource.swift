import CLinux
import Glibc
import SystemPackage

protocol BlockSource: AnyObject {
    /// The next block, valid until the next call; nil at the end.
    func next() throws(ArchiveError) -> UnsafeRawBufferPointer?
}

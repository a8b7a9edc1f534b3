import Files
import Glibc
import SystemPackage
import Testing

@testable import FolderWatch
@testable import Readiness

@Suite("InboxScan") struct InboxScanTests {
    private func list(_ scan: inout InboxScan, _ folder: InboxFolder, _ names: [String], folders: [String] = []) throws
        -> (new: [String], gone: [String], goneFolders: [String])
    {
        var new: [String] = []
        let gone = try scan.list(folder) { (listing) throws(IOError) in
            for name in names {
                guard let file = FileName(name) else { continue }
                if listing.saw(file) { new.append(name) }
            }
            for name in folders { if let folder = FileName(name) { listing.sawFolder(folder) } }
        }
        return (new, gone.names.map(\.text).sorted(), gone.folders.map(\.text))
    }

    @Test("A listing finds what is new and what is gone")
    func listings() throws {
        var scan = InboxScan()
        #expect(try list(&scan, .top, ["a", "b"]).new == ["a", "b"])
        let second = try list(&scan, .top, ["b", "c"])
        #expect(second.new == ["c"])
        #expect(second.gone == ["a"])
        #expect(scan.count == 2)
    }

    @Test("A listing that breaks off says of nothing that it is gone")
    func brokenOff() throws {
        var scan = InboxScan()
        _ = try list(&scan, .top, ["a", "b"])
        #expect(throws: IOError.self) {
            _ = try scan.list(.top) { (_) throws(IOError) in throw IOError("list", "x", .ioError) }
        }
        #expect(try list(&scan, .top, ["a", "b"]).new == [])
    }

    @Test("A folder that is gone takes all below it along")
    func folders() throws {
        var scan = InboxScan()
        let a = InboxFolder([try "a".fileName])
        let b = a.appending(try "b".fileName)
        _ = try list(&scan, .top, ["x"], folders: ["a"])
        _ = try list(&scan, a, ["y"], folders: ["b"])
        _ = try list(&scan, b, ["z"])
        #expect(try list(&scan, .top, ["x"]).goneFolders == ["a"])
        let gone = scan.forget(a)
        #expect(gone.names.map(\.text).sorted() == ["a/b/z", "a/y"])
        #expect(Set(gone.folders) == [a, b])
        #expect(scan.count == 1)
        #expect(!scan.knows(b))
    }

    @Test("After an absence all that is there is news, and what went meanwhile is gone")
    func doubt() throws {
        var scan = InboxScan()
        _ = try list(&scan, .top, ["stays", "goes"])
        scan.doubt()
        let listed = try list(&scan, .top, ["stays"])
        #expect(listed.new == ["stays"])
        #expect(listed.gone == ["goes"])
        #expect(try list(&scan, .top, ["stays"]).new.isEmpty)
    }
}

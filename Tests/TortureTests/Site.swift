import Files
import Glibc
import SystemPackage
import TestSupport

/// A mill with what it stands on, which goes when the site goes.
// @unchecked: immutable but for `mill`, which one thread at a time works with, without a queue or lock of its own.
final class Site: @unchecked Sendable {
    var mill: Mill
    /// Whether moves may be copies, so that a drop may be in two places for a moment.
    let isCopying: Bool
    /// File systems, and then the folder that they are mounted in.
    private var mounts: [TemporaryMount]
    private(set) var disks: [DiskImage]
    private let scratch: ScratchFolder

    private init(
        _ scratch: ScratchFolder, _ mill: Mill, isCopying: Bool = false, mounts: [TemporaryMount] = [],
        disks: [DiskImage] = []
    ) {
        self.scratch = scratch
        self.mill = mill
        self.isCopying = isCopying
        self.mounts = mounts
        self.disks = disks
    }

    deinit {
        mounts = []
        disks = []
    }

    /// What the program writes to its log is not to count, so that lies outside.
    private static func mill(in scratch: ScratchFolder) throws -> Mill {
        var mill = Mill(at: try scratch.makeFolder("mill"))
        mill.logs = scratch.path
        return mill
    }

    /// Everything in one folder. `rules`: further lines of the pipeline.
    static func plain(_ rules: [String] = []) throws -> Site {
        let scratch = try ScratchFolder()
        let mill = try mill(in: scratch)
        try mill.build(rules)
        return Site(scratch, mill)
    }

    /// Two pipelines with inboxes and lanes of their own that publish to the same folders.
    static func twins() throws -> Site {
        let scratch = try ScratchFolder()
        var mill = try mill(in: scratch)
        mill.layout.twin = (mill.root.appending("twin"), mill.root.appending(".dropmill").appending("twin"))
        try mill.build()
        return Site(scratch, mill)
    }

    /// Output, and processed unless only that, on a device of their own.
    static func otherDevice(
        _ options: String = "size=16m", _ rules: [String] = ["min_free: 0"], outputOnly: Bool = false
    ) throws -> Site {
        let scratch = try ScratchFolder()
        var mill = try mill(in: scratch)
        let mount = try TemporaryMount(tmpfs: options, at: mill.root.appending("elsewhere"))
        mill.layout.output = mount.path.appending("output")
        if !outputOnly { mill.layout.processed = mount.path.appending("processed") }
        try mill.build(rules)
        return Site(scratch, mill, isCopying: true, mounts: [mount])
    }

    /// Output and processed by another mount of the same device: renames fail, though the device's number is equal.
    static func otherMount(_ rules: [String] = []) throws -> Site {
        let scratch = try ScratchFolder()
        var mill = try mill(in: scratch)
        let mount = try TemporaryMount(bind: try scratch.makeFolder("real"), at: mill.root.appending("elsewhere"))
        mill.layout.output = mount.path.appending("output")
        mill.layout.processed = mount.path.appending("processed")
        try mill.build(rules)
        return Site(scratch, mill, isCopying: true, mounts: [mount])
    }

    /// On a ground; the state folder on a disk of its own where it is to be `elsewhere`.
    static func on(_ ground: Ground, stateElsewhere: Bool = false, _ rules: [String] = []) throws -> Site {
        guard let kind = ground.disk else { return try plain(ground.rules + rules) }
        let scratch = try ScratchFolder()
        let disk = try DiskImage(kind, at: scratch.path("disk"))
        var disks = [disk]
        var mill = Mill(at: disk.path.appending("mill"))
        mill.logs = scratch.path
        try Folder.make(mill.root)
        if stateElsewhere {
            let other = try DiskImage(kind, at: scratch.path("other"))
            disks.append(other)
            mill.state = other.path.appending("state")
        }
        try mill.build(["min_free: 0"] + ground.rules + rules)
        return Site(scratch, mill, disks: disks)
    }

    /// Brings everything that was dropped to the disk: a power cut may not take what is only about to be dropped.
    func settleDown() { sync() }
}

import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a helper could do if an archive had taken it over: nothing beyond its folder and itself. Each deed is one that
/// goes well for a process with all its rights.
@Suite struct ConfinementTests {
    /// What becomes of a deed.
    enum Outcome: Int32, Sendable {
        case done = 0
        /// There is nothing of that name: the folder is all there is.
        case absent = 2
        /// Refused with EAGAIN.
        case noMore = 11
        /// Refused with EACCES by Landlock.
        case denied = 13
        /// Refused with EXDEV: by openat2, or since Landlock lets nothing be linked from elsewhere.
        case crossing = 18
        /// Ended by SIGSYS.
        case killed = 159
    }

    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write("a", to: "in/a")
        try scratch.write("victim", to: "victim")
    }

    /// Whether a confined process has its folder as its root: for root, but in some containers.
    private static let isItsRoot =
        canChroot()
    private static let refused: Outcome = isItsRoot ? .absent : .denied
    private static let unlinked: Outcome = isItsRoot ? .absent : .crossing
    private static let found: Outcome = isItsRoot ? .absent : .done

    private static func canChroot() -> Bool {
        do {
            return try geteuid() == 0 && Tool("/usr/sbin/chroot").run(["/", "true"]).status == 0
        } catch {
            return false
        }
    }

    private func outcome(_ deed: String, _ rights: String, kernel: String? = nil) throws -> Outcome? {
        let variables = ["FOLDER=\(scratch.path("in").string)", "VICTIM=\(scratch.path("victim").string)"]
        let wrapper = kernel.map { [DropmillProcess.built("oldkernel").string, $0] } ?? []
        let words = variables + wrapper + [DropmillProcess.built("confined").string, deed, rights]
        return Outcome(rawValue: try Tool("/usr/bin/env").run(words).status)
    }

    @Test(arguments: [
        ("inside", Outcome.done), ("ask_limit", .done), ("outside", refused), ("read_host_file", .denied),
        ("hard_link_out", unlinked), ("find", found), ("set_own_times", .done), ("set_times", .killed),
        ("set_times_beneath", .killed), ("examine_own", .done), ("examine", .denied), ("start_thread", .noMore),
        ("make_device", .killed), ("set_user_id", .killed), ("start_process", .killed),
        ("run_program", .killed), ("use_network", .killed), ("signal_parent", .killed),
        ("signal_parent_thread", .killed), ("limit_parent", .killed), ("map_code", .killed),
        ("rename_within", .killed), ("trace", .killed),
    ])
    func deeds(deed: String, expected: Outcome) throws {
        #expect(try outcome(deed, "confined") == expected)
        #expect(!scratch.exists("escaped"))
        #expect(try outcome(deed, "free") == .done, "it would be no crime otherwise")
    }

    /// Without a folder there is nothing but what is open already, and no thread, whatever the kernel has.
    @Test(
        arguments: [
            ("read_open", Outcome.done), ("read_host_file", .denied), ("inside", .killed), ("outside", .killed),
            ("above", .crossing), ("hard_link_out", .killed), ("look_outside", .killed), ("ask_limit", .killed),
            ("make_device", .killed), ("set_user_id", .killed), ("start_process", .killed), ("start_thread", .killed),
            ("run_program", .killed), ("use_network", .killed), ("signal_parent", .killed), ("map_code", .killed),
        ], [true, false])
    func deedsWithoutFolder(deed: (String, Outcome), hasLandlock: Bool) throws {
        #expect(try outcome(deed.0, "without-folder", kernel: hasLandlock ? nil : "landlock") == deed.1)
        #expect(try outcome(deed.0, "free") == (deed.0 == "above" ? .crossing : .done))
    }

    /// What is left where the kernel has no Landlock: the list of calls. Files elsewhere are out of reach only as long
    /// as the helper's own code opens them.
    @Test(arguments: [
        ("inside", Outcome.done), ("outside", found), ("above", .crossing), ("make_device", .killed),
        ("find", found), ("set_times", .killed), ("examine", .denied), ("start_thread", .noMore),
        ("set_user_id", .killed), ("start_process", .killed), ("run_program", .killed), ("use_network", .killed),
        ("signal_parent", .killed), ("limit_parent", .killed), ("map_code", .killed),
    ])
    func deedsWithoutLandlock(deed: String, expected: Outcome) throws {
        #expect(try outcome(deed, "confined", kernel: "landlock") == expected)
    }

    /// The folder stays within reach where the kernel has no openat2.
    @Test(arguments: ["inside", "examine_own", "set_own_times"])
    func deedsWithoutOpenat2(deed: String) throws {
        #expect(try outcome(deed, "confined", kernel: "openat2") == .done)
    }

    /// Not even one's own code goes up.
    @Test func above() throws {
        #expect(try outcome("above", "free") == .crossing)
        #expect(try outcome("above", "confined") == .crossing)
    }
}

import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What a helper could do if an archive had taken it over: nothing beyond its folder and itself. Each deed is one that
/// goes well for a process with all its rights.
@Suite struct ConfinementTests {
    /// What becomes of a deed.
    enum Outcome: Int32, Sendable {
        case done = 0
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

    private func outcome(_ deed: String, _ rights: String, hasLandlock: Bool = true) throws -> Outcome? {
        let variables = ["FOLDER=\(scratch.path("in").string)", "VICTIM=\(scratch.path("victim").string)"]
        let wrapper = hasLandlock ? [] : [DropmillProcess.built("oldkernel").string, "landlock"]
        let words = variables + wrapper + [DropmillProcess.built("confined").string, deed, rights]
        return Outcome(rawValue: try Tool("/usr/bin/env").run(words).status)
    }

    @Test(arguments: [
        ("inside", Outcome.done), ("ask_limit", .done), ("outside", .denied), ("read_host_file", .denied),
        ("hard_link_out", .crossing), ("make_device", .killed), ("set_user_id", .killed), ("start_process", .killed),
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
            ("above", .killed), ("hard_link_out", .killed), ("look_outside", .killed), ("ask_limit", .killed),
            ("make_device", .killed), ("set_user_id", .killed), ("start_process", .killed), ("start_thread", .killed),
            ("run_program", .killed), ("use_network", .killed), ("signal_parent", .killed), ("map_code", .killed),
        ], [true, false])
    func deedsWithoutFolder(deed: (String, Outcome), hasLandlock: Bool) throws {
        #expect(try outcome(deed.0, "without-folder", hasLandlock: hasLandlock) == deed.1)
        #expect(try outcome(deed.0, "free") == (deed.0 == "above" ? .crossing : .done))
    }

    /// What is left where the kernel has no Landlock: the list of calls. Files elsewhere are out of reach only as long
    /// as the helper's own code opens them.
    @Test(arguments: [
        ("inside", Outcome.done), ("outside", .done), ("above", .crossing), ("make_device", .killed),
        ("set_user_id", .killed), ("start_process", .killed), ("run_program", .killed), ("use_network", .killed),
        ("signal_parent", .killed), ("limit_parent", .killed), ("map_code", .killed),
    ])
    func deedsWithoutLandlock(deed: String, expected: Outcome) throws {
        #expect(try outcome(deed, "confined", hasLandlock: false) == expected)
    }

    /// Not even one's own code goes up.
    @Test func above() throws {
        #expect(try outcome("above", "free") == .crossing)
        #expect(try outcome("above", "confined") == .crossing)
    }
}

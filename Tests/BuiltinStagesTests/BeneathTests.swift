import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Opening what lies below a folder, in one call or, where the kernel lacks that, name by name: with the same answers.
@Suite struct BeneathTests {
    /// Who answers in place of the kernel.
    enum Kernel: String, CaseIterable {
        case this
        case lacking = "openat2"
        case refusing = "openat2-refused"
    }

    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// A tree with every kind of thing, some of them links that lead out.
    private func makeTree(_ name: String) throws -> FilePath {
        try scratch.write("outside", to: "\(name)-outside/file")
        let root = try scratch.makeFolder(name)
        try scratch.write("a", to: "\(name)/a/b/c/file")
        try scratch.write("bb", to: "\(name)/file")
        try scratch.link("\(name)/inside", to: "a/b")
        try scratch.link("\(name)/out", to: "../\(name)-outside")
        try scratch.link("\(name)/a/up", to: "..")
        try scratch.link("\(name)/root", to: "/")
        try scratch.link("\(name)/self", to: "self")
        try scratch.link("\(name)/nothing", to: "not-there")
        try scratch.link("\(name)/a/tofile", to: "../file")
        return root
    }

    private func run(_ kernel: Kernel, _ words: String..., input: FilePath? = nil) throws -> String {
        let wrapper = kernel == .this ? [] : [DropmillProcess.built("oldkernel").string, kernel.rawValue]
        let command = wrapper + [DropmillProcess.built("beneath").string] + words
        let script = "exec \"$@\" <\"$INPUT\""
        let output = try Tool("/usr/bin/env").run(
            ["INPUT=\(input?.string ?? "/dev/null")", "/bin/sh", "-c", script, "sh"] + command)
        try #require(output.status == 0, "\(output.text)")
        return output.text
    }

    /// What becomes of each line of flags and a path.
    private func answers(_ kernel: Kernel, _ lines: [String]) throws -> [String] {
        let root = try makeTree("tree-\(kernel.rawValue)")
        let input = try scratch.write(lines.map { $0 + "\n" }.joined(), to: "\(kernel.rawValue)-lines")
        return try run(kernel, "opens", root.string, input: input).split(separator: "\n").map(String.init)
    }

    private static let (path, nofollow, folder) = (0o10000000, O_NOFOLLOW, O_DIRECTORY)

    /// Every way that files are opened by, on every path of up to four names.
    @Test func sameAnswers() throws {
        let flags: [Int32] = [
            O_RDONLY, O_RDONLY | O_NOFOLLOW, O_RDONLY | O_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, O_WRONLY,
            O_RDONLY | O_NONBLOCK, O_WRONLY | O_CREAT, O_WRONLY | O_CREAT | O_EXCL, Int32(Self.path),
            Int32(Self.path) | O_NOFOLLOW, Int32(Self.path) | O_DIRECTORY,
            Int32(Self.path) | O_DIRECTORY | O_NOFOLLOW,
        ]
        let names = [
            "a", "b", "c", "file", "inside", "out", "up", "root", "self", "nothing", "tofile", "new", ".", "..", "",
            String(repeating: "n", count: 255), String(repeating: "n", count: 256),
        ]
        var generator = SeededGenerator(seed: 6)
        var lines: [String] = []
        for flag in flags {
            for name in names { lines += ["\(flag) \(name)", "\(flag) \(name)/", "\(flag) /\(name)"] }
            for _ in 0..<500 {
                let count = Int.random(in: 2...4, using: &generator)
                let parts = (0..<count).compactMap { _ in names.randomElement(using: &generator) }
                lines.append("\(flag) " + parts.joined(separator: "/"))
            }
        }
        // Which error comes first where a file is to be made at a folder's name is nobody's business.
        let making = ["\(O_WRONLY | O_CREAT) ", "\(O_WRONLY | O_CREAT | O_EXCL) "]
        lines.removeAll { line in line.hasSuffix("/") && making.contains { line.hasPrefix($0) } }
        let usual = try answers(.this, lines)
        #expect(usual.count == lines.count)
        for kernel in [Kernel.lacking, .refusing] {
            let others = try answers(kernel, lines)
            let differing = zip(lines, zip(usual, others)).first { $1.0 != $1.1 }.map { "\($0)" }
            #expect(differing == nil, "\(kernel)")
        }
    }

    /// What must be so by whichever way, each by name.
    @Test(arguments: Kernel.allCases)
    func neverOutNorThroughLinks(kernel: Kernel) throws {
        let expected: [(String, Int32)] = [
            ("\(O_RDONLY) a/b/c/file", 0), ("\(O_RDONLY | O_DIRECTORY) a/b", 0), ("\(O_RDONLY) .", 0),
            ("\(O_RDONLY) inside/c/file", ELOOP), ("\(O_RDONLY) out/file", ELOOP), ("\(O_RDONLY) root/etc", ELOOP),
            ("\(O_RDONLY) a/tofile", ELOOP), ("\(O_RDONLY | O_DIRECTORY) inside", ELOOP), ("\(Self.path) out", ELOOP),
            ("\(Int32(Self.path) | O_NOFOLLOW) out", 0), ("\(O_RDONLY) a/../file", EXDEV),
            ("\(O_RDONLY) ../tree/file", EXDEV), ("\(O_RDONLY) /etc/passwd", EXDEV), ("\(O_RDONLY) ..", EXDEV),
            ("\(O_WRONLY | O_CREAT) new/", EISDIR), ("\(O_WRONLY | O_CREAT) nothing", ELOOP),
            ("\(O_WRONLY | O_CREAT) out/new", ELOOP),
            ("\(O_RDONLY) file/x", ENOTDIR), ("\(O_RDONLY) not/there", ENOENT), ("\(O_RDONLY) ", ENOENT),
        ]
        let errors = try answers(kernel, expected.map(\.0)).map { Int32($0.prefix { $0 != " " }) }
        for ((line, error), answer) in zip(expected, errors) { #expect(answer == error, "\(line)") }
    }

    /// A folder that is exchanged for a link while it is walked: 1,000 rounds, and each way to open shows that the link
    /// is hit when nobody takes care.
    @Test(arguments: Kernel.allCases)
    func aRaceWithALink(kernel: Kernel) throws {
        try scratch.write("victim", to: "victim/file")
        try scratch.write("own", to: "root/d/file")
        try scratch.link("root/link", to: "../victim")
        let root = scratch.path("root").string
        #expect(try run(kernel, "race", root, "1000") == "0\n")
        #expect(try run(kernel, "careless", root, "1000") != "0\n")
    }

    /// A lease that somebody holds says EAGAIN, once, and is no reason to ask for ever.
    @Test(arguments: Kernel.allCases)
    func leasesAreNotAskedForEver(kernel: Kernel) throws {
        let root = try scratch.makeFolder("root")
        let file = try OpenFile.open(scratch.write("leased", to: "root/file"), O_RDWR)
        // F_SETLEASE and F_WRLCK; whoever may not have one cannot be in the way of others either.
        signal(SIGIO, SIG_IGN)
        guard fcntl(file.descriptor, 1024, Int32(F_WRLCK)) == 0 else { return }
        let input = try scratch.write("\(O_RDONLY | O_NONBLOCK) file\n", to: "lines")
        #expect(try run(kernel, "opens", root.string, input: input).hasPrefix("\(EAGAIN) "))
    }
}
